"""Thousands of checkpoints → four Parquet tables: found, shared out among processes, written once each, asked about.

units (what to look at) → batches → parts (a file of each table) → settled tables → answers
"""

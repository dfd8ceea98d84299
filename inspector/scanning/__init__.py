"""Thousands of checkpoints → four Parquet tables: discovery, distribution among processes, commits, queries.

units (what to inspect) → batches → parts (a file of each table) → settled tables → answers
"""

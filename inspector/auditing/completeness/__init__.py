"""Completeness: are all files there, and is each what its name says?"""

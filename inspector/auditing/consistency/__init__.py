"""Consistency: do configuration, tokenizer, adapter, index and weights agree?"""

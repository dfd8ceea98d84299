"""Adapters as PEFT builds them: the tensors of each method, and the modules whose sizes they show."""

"""Differences between two checkpoints: tensors are paired by purpose, regardless of names and formats."""

"""Differences between two checkpoints: tensors are paired by purpose, whatever their names and formats."""

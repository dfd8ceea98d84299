"""What differs between two checkpoints: tensors paired by what they are for, whatever their names and formats."""

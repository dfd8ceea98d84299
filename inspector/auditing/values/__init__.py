"""Values: are the numbers sound? These rules read tensors, and run with `--data` only."""

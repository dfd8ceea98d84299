"""From a place to a checkpoint: which files are the weights, and which configuration is theirs."""

"""What it takes to run or to train a model: weights, caches, activations, and what fits where."""

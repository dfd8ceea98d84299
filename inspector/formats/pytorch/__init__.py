"""PyTorch's own files: a pickle that names tensors, and their bytes beside it. Nothing in one is ever run."""

"""LoRA and its relatives: which tensors an adapter adds to a model, and what its method and ranks predict."""

"""The values of tensors, read in bounded pieces, and statistics of them."""

"""What tensors hold: their values, read in bounded pieces, and statistics of them."""

"""A checkpoint, or the comparison of two, as a tree in the terminal."""

"""What the rules read that is no weight file: documents, archives, programs in them, and their names."""

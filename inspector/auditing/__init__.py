"""Is a download whole, consistent and safe? Rules, checksums and the run over many targets."""

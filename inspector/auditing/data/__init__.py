"""What the libraries take, as tables that tools write."""

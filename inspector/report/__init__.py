"""Results → text, JSON, CSV. Nothing is computed here."""

"""Results → text, JSON, CSV. Nothing is counted here."""

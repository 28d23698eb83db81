"""Every event: what has happened."""

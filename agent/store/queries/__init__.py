"""Look-ups on a read-only connection."""

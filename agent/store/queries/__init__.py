"""Look-ups on a connection that only reads."""

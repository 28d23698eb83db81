"""The Settings app."""

"""The chain of what was done and allowed, kept beside the store."""

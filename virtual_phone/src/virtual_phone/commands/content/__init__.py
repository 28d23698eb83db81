"""`content` and the providers behind it."""

"""Kept secrets: each given to one field of one app, by name, and never to a model."""

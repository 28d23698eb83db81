"""A screen as a model reads it: elements, rows, its kind, and what an action changed."""

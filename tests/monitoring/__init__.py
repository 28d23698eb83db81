"""Metrics and traces of a core."""

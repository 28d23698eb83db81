"""Turns: the context a task works in, carrying a turn out, closing it."""

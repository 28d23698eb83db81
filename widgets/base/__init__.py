"""Shared base of all widgets: fault isolation, rows, rich parts, formatting, gestures."""

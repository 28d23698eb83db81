"""Touches, keys, gestures and text."""

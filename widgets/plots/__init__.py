"""Figures as bars and columns."""

"""Filters of the History: what they mean, and those that the operator saved."""

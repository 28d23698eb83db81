"""Actions and their keys."""

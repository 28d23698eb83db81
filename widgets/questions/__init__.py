"""The card of an open question, and the place to write."""

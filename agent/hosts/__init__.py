"""The other hosts of a fleet, as one core works with them: who is there, and what they ask."""

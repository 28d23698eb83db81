"""Find what the acts of a session have changed, from what was seen before and after them."""

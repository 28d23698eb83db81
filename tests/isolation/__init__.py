"""What a stranger reaches of a running core, and what a running core reaches of the world."""

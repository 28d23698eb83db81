"""Live pictures in the console: when they are sent, and whose are followed."""

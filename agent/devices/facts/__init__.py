"""What a phone says of itself, read from its own words."""

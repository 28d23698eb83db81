"""What is known of endpoints, for people."""

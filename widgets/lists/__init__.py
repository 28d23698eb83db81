"""What lists show and in which order."""

"""What is installed, and the APKs of it."""

"""What is set from the console, and kept in the settings file."""

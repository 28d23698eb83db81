"""What reaches the phone: fingers, keys and text."""

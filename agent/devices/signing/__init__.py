"""With which certificates an app of a phone is signed."""

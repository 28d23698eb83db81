"""Define every event."""

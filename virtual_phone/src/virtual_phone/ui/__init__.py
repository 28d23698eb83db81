"""The drawing and interaction vocabulary of the virtual phone's screens."""

"""Tell people by their own services that something waits for them, and take their answers."""

"""Every phone live in one widget."""

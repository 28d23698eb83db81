"""A session as JSON lines: written from any core, read from anybody."""

"""Who runs a session, on which host, under which lease."""

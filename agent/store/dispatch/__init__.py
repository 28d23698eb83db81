"""Run sessions: on which host, under which lease."""

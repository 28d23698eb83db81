"""Stored sessions: the history, the replay, two compared."""

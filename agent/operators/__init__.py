"""Operators with rights: who they are, how they sign in, and the door that each of them meets."""

"""The commands on sessions."""

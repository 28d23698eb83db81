"""The commands on phones."""

"""The commands for a fleet: its hosts, and being one."""

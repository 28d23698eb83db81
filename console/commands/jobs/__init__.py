"""The commands on jobs, watchers and commitments."""

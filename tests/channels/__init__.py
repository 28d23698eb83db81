"""Channels: people's own services, each against a server of its protocol on loopback."""

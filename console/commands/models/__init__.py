"""The commands on models and logins."""

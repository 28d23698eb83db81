"""One SQLite database: opened, locked, identified, migrated; its failures in words."""

"""One SQLite database: opening, locking, identity, migrations, errors."""

"""The store of a fleet: many hosts on one PostgreSQL database. Needs the extra `fleet`."""

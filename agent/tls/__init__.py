"""TLS: what is spoken with other computers, and a private authority for its certificates."""

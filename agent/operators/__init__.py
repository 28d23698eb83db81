"""Operators and their rights: sign-in, authorisation, and the filtered core that each one uses."""

"""What is written: numbered events, rows derived from them, atomic requests."""

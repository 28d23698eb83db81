"""How much of the disk what is kept of sessions takes."""

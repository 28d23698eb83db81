"""What system services say of themselves."""

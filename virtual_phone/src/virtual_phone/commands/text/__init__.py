"""Commands on lines and bytes of text."""

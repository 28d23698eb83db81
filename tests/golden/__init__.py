"""The golden set: what the program says and does, drawn so that versions can be compared."""

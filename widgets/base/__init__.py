"""What widgets stand on: faults kept inside one, rows, rich parts, formatting, gestures."""

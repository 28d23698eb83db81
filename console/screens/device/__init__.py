"""One phone large, and the wheel."""

"""Which phone work is done on: what it needs, what phones have, and who is served next."""

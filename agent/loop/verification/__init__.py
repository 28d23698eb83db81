"""Whether a claim of success is true: checks of structure, then a verifier."""

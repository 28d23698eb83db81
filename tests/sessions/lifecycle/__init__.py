"""The lifecycle of sessions as a model: what must be so after each step, and what the core says."""

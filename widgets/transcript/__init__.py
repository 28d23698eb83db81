"""A session as text: its items, its plan, the record of a step."""

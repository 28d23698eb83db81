"""The fold: events to what an operator sees, in records and in words. No I/O, no clock."""

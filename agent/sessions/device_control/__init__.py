"""Sessions and phones outside a turn: driving by hand, looking, losing, moving."""

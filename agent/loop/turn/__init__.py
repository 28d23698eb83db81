"""One turn: its record, budget, screen in hand, tools that touch no phone, escalation."""

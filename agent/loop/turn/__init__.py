"""Run one turn: record, budget, current screen, tools that do not touch the phone, escalation."""

"""Answers, deadlines, verdicts and corrections of what the operator said."""

"""Who may allow more: only a person at a keyboard, or a script with a token made for it."""

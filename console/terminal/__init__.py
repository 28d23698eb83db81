"""The operator's terminal: writing, title, notices, clipboard, editor, signals."""

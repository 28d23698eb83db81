"""Find what of a session's effects one act on the phone can take back."""

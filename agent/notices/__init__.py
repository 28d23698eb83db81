"""Tell the operator that a session waits or has ended: what is shown, what a tap does, where."""

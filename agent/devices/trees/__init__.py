"""UI trees: dumped, or read from a service that stays on the phone."""

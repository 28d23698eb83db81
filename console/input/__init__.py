"""What the operator types and presses, on its way to what it means."""

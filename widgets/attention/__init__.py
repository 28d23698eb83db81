"""What waits for the operator, as rows that can be decided on."""

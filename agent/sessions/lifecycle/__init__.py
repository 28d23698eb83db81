"""What an operator, a program or a restart does to sessions."""

"""What is to be stored: numbered events, rows beside them, requests kept whole or not at all."""

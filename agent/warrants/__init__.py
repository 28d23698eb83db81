"""What an operator allows in words: drafting, signing, and the uses of warrants."""

"""What a phone holds, and how it is kept, reset and told apart."""

"""The Deck, and what its keys do."""

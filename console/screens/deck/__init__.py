"""The Deck and its controllers."""

"""What the Deck does with several sessions at once, and how its panes are laid out."""

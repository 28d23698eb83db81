"""What screens with a phone share: its text, from the live tree, and pressing what it lists."""

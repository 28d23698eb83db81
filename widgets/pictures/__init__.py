"""Ways of looking at a phone's screen closely: as a zoomed picture, and as text."""

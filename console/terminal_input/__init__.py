"""What a terminal sends, on its way to keys, the mouse, pastes and answers."""

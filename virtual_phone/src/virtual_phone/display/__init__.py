"""What a display shows: scenes, drawn, kept and captured."""

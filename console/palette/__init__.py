"""What the palette finds and does: entries, their order, typed lines, and the last ones chosen."""

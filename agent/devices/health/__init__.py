"""Check phones and this computer, repair what was found, and administer phones."""

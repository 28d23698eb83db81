"""What every screen of the console has: size classes, header and footer."""

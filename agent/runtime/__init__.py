"""The core itself: submissions one after the other, which room carries out which op, look-ups."""

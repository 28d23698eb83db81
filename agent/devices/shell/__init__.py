"""The shell of a phone, and what is asked and put right through it."""

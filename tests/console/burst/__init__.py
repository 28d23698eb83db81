"""Whether a script of keys comes to the same, however fast it is typed."""

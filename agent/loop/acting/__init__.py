"""One action: read from the answer, guarded, carried out, replayed or reviewed."""

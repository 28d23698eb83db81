"""What tells that a screen changed or rests, beside its elements: picture, toast, loading."""

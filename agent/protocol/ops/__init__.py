"""Every op: what a listener may ask of the core."""

"""A session followed without a screen: run, prompts, narration, drills."""

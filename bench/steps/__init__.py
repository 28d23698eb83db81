"""What the loop costs a step, and what a model is sent."""

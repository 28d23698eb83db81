"""What a model is told and remembers: prompts, memory, masking, the call."""

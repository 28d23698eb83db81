"""Models that fail on purpose, served over the OpenAI wire and seeing only the prompt."""

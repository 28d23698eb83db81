"""Commands that judge models and make training data."""

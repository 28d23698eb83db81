"""Virtual phones as an environment that OpenEnv's clients step through."""

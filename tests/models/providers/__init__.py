"""What each provider accepts and refuses, served as strictly as the provider does."""

"""What the app is composed of: each part does one thing for every screen."""

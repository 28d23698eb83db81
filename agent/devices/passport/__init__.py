"""What was found out about a phone once, and how sessions drive it because of that."""

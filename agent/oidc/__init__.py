"""Sign in by an account at an OpenID issuer: its device flow, its keys, and its ID tokens."""

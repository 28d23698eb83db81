"""Sign in with an account at an OpenID issuer: device flow, keys, and ID tokens."""

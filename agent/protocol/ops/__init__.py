"""Define every op: the requests that a client may submit."""

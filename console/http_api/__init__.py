"""The core's ops and look-ups over HTTP, described by OpenAPI."""

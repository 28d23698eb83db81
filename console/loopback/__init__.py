"""Serving programs of this machine: the listener, its token, the clients that it keeps."""

"""The same core over a socket: the server and its connections, and the client's side."""

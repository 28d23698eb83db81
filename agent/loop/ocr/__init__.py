"""Text that only the picture shows: games, canvases and web pages whose UI tree says nothing."""

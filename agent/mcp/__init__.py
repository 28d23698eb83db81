"""MCP servers whose tools sessions may use: connections, and what each says of its tools."""

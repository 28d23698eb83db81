"""The daemon side of ADB: packets, connections, streams and the services a stream can open."""

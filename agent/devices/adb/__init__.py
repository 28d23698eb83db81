"""The adb server protocol: binary, server, connections, files, and the list of devices."""

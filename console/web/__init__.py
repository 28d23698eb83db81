"""The console in a browser: a server for this machine, its gate and its page."""

"""Commands that serve a core to other programs of this machine, or to a browser."""

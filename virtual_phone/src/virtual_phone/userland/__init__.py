"""The phone below its screen: files, processes, sockets, log and the boot they belong to."""

"""The phone's command line: a small POSIX-like shell whose commands run inside this process."""

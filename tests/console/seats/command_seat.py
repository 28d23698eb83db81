"""The command line on a terminal of a test: its words are the one argument."""

import shlex
import sys

from console.cli import main

if __name__ == "__main__":
    main(shlex.split(sys.argv[1]))

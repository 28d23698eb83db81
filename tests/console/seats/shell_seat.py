"""A shell with job control on its terminal, for `test_editor_terminal`."""

import os

if __name__ == "__main__":
    os.execvp("bash", ["bash", "--norc", "-i"])

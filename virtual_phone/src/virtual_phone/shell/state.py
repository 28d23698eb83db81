"""What a shell remembers: variables, arguments, working directory, functions, jobs, open files.

Not running anything: that is `interpreter`. Invariant: a subshell's changes stay its own.
"""

import asyncio
from typing import TYPE_CHECKING, Self

from virtual_phone.numbers import is_number
from virtual_phone.shell.call import Call
from virtual_phone.shell.flow import ENVIRONMENT, SHELL_NAME
from virtual_phone.shell.syntax import Command

if TYPE_CHECKING:
    from virtual_phone.userland.userland import Userland


class ShellState:
    """The state of one shell."""

    def __init__(self, userland: "Userland", *, terminal: bool = False) -> None:
        self.userland = userland
        self.terminal = terminal
        self.cwd = "/"
        self.variables: dict[str, str] = dict(ENVIRONMENT)
        if userland.files.uid == 0:
            self.variables |= {"USER": "root", "LOGNAME": "root"}
        self.exported: set[str] = set(ENVIRONMENT)
        self.functions: dict[str, Command] = {}
        self.arguments: list[str] = []
        self.script_name = SHELL_NAME
        self.status = 0
        self.pid = userland.processes.new_pid()
        self.last_job_pid = 0
        self.jobs: dict[int, asyncio.Task[int]] = {}
        self.traps: dict[str, str] = {}
        self.exit_on_error = False
        self.kept: list[Call] = []
        """The owners of the files that `exec` opened for the shell itself."""
        self.depth = 0

    def parameter(self, name: str) -> str | None:
        """Return the value of a variable, positional or special parameter; None when unset."""
        match name:
            case "?":
                return str(self.status)
            case "$":
                return str(self.pid)
            case "!":
                return str(self.last_job_pid) if self.last_job_pid else None
            case "#":
                return str(len(self.arguments))
            case "@" | "*":
                return " ".join(self.arguments) if self.arguments else None
            case "-":
                return "i" if self.terminal else ""
            case "0":
                return self.script_name
            case _ if is_number(name):
                index = int(name[:6]) - 1
                return self.arguments[index] if index < len(self.arguments) else None
            case "RANDOM":
                return str(self.userland.random.randrange(32768))
            case "PWD":
                return self.cwd
            case "PPID":
                return "512"
            case _:
                return self.variables.get(name)

    def assign(self, name: str, value: str) -> None:
        self.variables[name] = value

    def environment(self) -> dict[str, str]:
        """Return the exported variables."""
        return {name: self.variables[name] for name in self.exported if name in self.variables}

    def child(self) -> Self:
        """Return a copy for a subshell."""
        copy = type(self).__new__(type(self))
        copy.userland = self.userland
        copy.terminal = False
        copy.cwd = self.cwd
        copy.variables = dict(self.variables)
        copy.exported = set(self.exported)
        copy.functions = dict(self.functions)
        copy.arguments = list(self.arguments)
        copy.script_name = self.script_name
        copy.status = self.status
        copy.pid = self.pid
        copy.last_job_pid = self.last_job_pid
        copy.jobs = {}
        copy.traps = {}
        copy.kept = []
        copy.exit_on_error = self.exit_on_error
        copy.depth = self.depth + 1
        return copy

    def let_go(self) -> None:
        """Close the files that `exec` opened."""
        while self.kept:
            self.kept.pop().close()

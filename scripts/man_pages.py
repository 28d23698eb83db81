"""Write the manual pages of `switchboard` and `virtual-phone` from the commands themselves.

`python scripts/man_pages.py` writes docs/man/switchboard.1 and virtual_phone/man/virtual-phone.1,
which the wheels install as share/man/man1; with a directory, it writes them there. The form is
man(7). It runs in a process of its own: click keeps a command's help option from the first context
that asked for it, so a process that ran a command in another way would write another page.
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from console.cli import cli as switchboard
from virtual_phone.cli.main import cli as virtual_phone

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    Path("docs/man/switchboard.1"): ("switchboard", switchboard),
    Path("virtual_phone/man/virtual-phone.1"): ("virtual-phone", virtual_phone),
}
STATUS = {
    "switchboard": "0 when it was done, 1 when it failed, 2 for a call that cannot be used, 3 when "
    "nobody answered a question, 4 in a wrong state, 5 when only the model says that it is done.",
    "virtual-phone": "0 when it was done, 1 when it failed, 2 for a call that cannot be used.",
}


def page(name: str, command: click.Group) -> str:
    # As the program runs, for the names of the help option are the context's.
    context = click.Context(command, info_name=name, **command.context_settings)
    summary = text_of(command).split("\n\n")[0].rstrip(".")
    parts = [
        f'.TH {name.upper()} 1 "" "{name}" "User Commands"',
        f".SH NAME\n{escaped(name)} \\- {escaped(summary[0].lower() + summary[1:])}",
        f".SH SYNOPSIS\n.B {escaped(name)}\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]",
        f".SH DESCRIPTION\n{paragraphs(text_of(command))}",
        ".SH OPTIONS",
        *options(command, context),
        ".SH COMMANDS",
        *commands("", command, context),
        f".SH EXIT STATUS\n{escaped(STATUS[name])}",
    ]
    if command.epilog:
        parts.append(f".SH NOTES\n{paragraphs(command.epilog)}")
    return "\n".join(parts) + "\n"


def commands(path: str, group: click.Group, context: click.Context) -> Iterator[str]:
    """Yield the entry of every command below a group."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        words = f"{path} {name}".strip()
        below = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from commands(words, command, below)
            continue
        usage = " ".join(command.collect_usage_pieces(below))
        yield f".SS {escaped(f'{words} {usage}'.strip())}\n{paragraphs(text_of(command))}"
        yield from options(command, below)


def options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:
            yield f".TP\n.B {escaped(record[0])}\n{escaped(record[1])}"


def text_of(command: click.Command) -> str:
    """Return a command's help without its examples."""
    return inspect.cleandoc(command.help or "").partition("\f")[0]


def paragraphs(text: str) -> str:
    cleaned = text.replace("\b\n", "").strip()
    return "\n.PP\n".join(escaped(" ".join(part.split())) for part in cleaned.split("\n\n"))


def escaped(text: str) -> str:
    """Return text of which nothing is taken for a request or an escape."""
    shown = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + shown if shown.startswith((".", "'")) else shown


def main(root: Path) -> None:
    """Write both pages below a directory."""
    for path, (name, command) in PAGES.items():
        written = root / path
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(page(name, command), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)

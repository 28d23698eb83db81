"""Lines typed on the terminal of a command: shown or unseen, with ctrl+c working all the while.

Invariants: waiting for a line blocks no event loop; a secret is not shown, whenever it was typed;
what was typed before a question stood is no answer to it.
"""

import asyncio
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import click

_ECHO_AT = 3  # Where the local modes stand in what `tcgetattr` returns.
_LINE_BYTES = 65_536


def can_ask() -> bool:
    """Return whether somebody sits at this process's terminal."""
    try:
        return os.isatty(0) and os.isatty(2)
    except OSError:
        return False


@contextmanager
def hidden_input(*, is_unseen: bool = True) -> Iterator[None]:
    """Keep the terminal from showing what is typed, and drop what was typed before.

    With `is_unseen=False` the reverse, for a question whose answer is shown. Where stdin is no
    terminal, nothing happens.
    """
    try:
        before = termios.tcgetattr(0)
    except termios.error:
        yield
        return
    wanted = [*before]
    wanted[_ECHO_AT] &= ~termios.ECHO
    if not is_unseen:
        wanted[_ECHO_AT] |= termios.ECHO
    termios.tcsetattr(0, termios.TCSAFLUSH, wanted)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSAFLUSH, before)


async def ask(what: str, *, default: str = "", may_be_blank: bool = False) -> str:
    """Ask for a line that is shown while it is typed; blank takes the default, or asks again.

    Raises:
        Abort: the terminal was closed, or its end-of-file key pressed.
    """
    prompt = f"{what} [{default}]: " if default else f"{what}: "
    with hidden_input(is_unseen=False):
        while True:
            typed = await _answer(prompt) or default
            if typed or may_be_blank:
                return typed


async def ask_secret(what: str) -> str:
    """Ask for a line that is not shown. Raises Abort as `ask` does."""
    with hidden_input():
        typed = await _answer(f"{what}: ")
        _show("\n")
        return typed


def ask_secret_at_once(what: str) -> str:
    """Ask for a line that is not shown, outside an event loop. Raises Abort as `ask` does."""
    with hidden_input():
        _show(f"{what}: ")
        try:
            return _text(os.read(0, _LINE_BYTES)).strip()
        except (EOFError, OSError):
            raise click.Abort from None
        finally:
            _show("\n")


async def agree(question: str) -> None:
    """Have somebody say yes. Raises Abort for no, which is also what blank means."""
    while True:
        said = (await ask(f"{question} [y/N]", may_be_blank=True)).lower()
        if said in {"y", "yes"}:
            return
        if said in {"", "n", "no"}:
            raise click.Abort


async def _answer(prompt: str) -> str:
    _show(prompt)
    try:
        return (await next_line()).strip()
    except EOFError:
        _show("\n")
        raise click.Abort from None
    except asyncio.CancelledError:
        # What ends the command is said on a line of its own.
        _show("\n")
        raise


async def next_line() -> str:
    """Return the next line of the terminal, with its end.

    Raises:
        EOFError: the terminal was closed, or its end-of-file key pressed.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Future[bytes] = loop.create_future()

    def on_ready() -> None:
        # A terminal hands over whole lines, so one read is one line.
        try:
            data = os.read(0, _LINE_BYTES)
        except OSError:
            data = b""
        if not arrived.done():
            arrived.set_result(data)

    loop.add_reader(0, on_ready)
    try:
        return _text(await arrived)
    finally:
        loop.remove_reader(0)


def _text(line: bytes) -> str:
    if not line:
        raise EOFError
    return line.decode("utf-8", "replace")


def _show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()

"""Redirections: what `<`, `>`, `2>&1` and here-documents do to a command's streams."""

import contextlib
from typing import assert_never

from virtual_phone.numbers import is_number
from virtual_phone.server.pipes import (
    BytesSource,
    EmptySource,
    NullSink,
    Sink,
    Source,
    as_sink,
    as_source,
)
from virtual_phone.shell.call import Call, CommandError, Descriptors, encode
from virtual_phone.shell.expansion import Expander
from virtual_phone.shell.flow import SHELL_NAME
from virtual_phone.shell.syntax import Redirect, RedirectKind


async def redirected(
    redirects: tuple[Redirect, ...], descriptors: Descriptors, opened: Call, expander: Expander
) -> Descriptors:
    """Return the descriptors after redirections; `opened` owns the files that they open.

    Raises:
        CommandError: a file cannot be opened, or a descriptor is not open.
    """
    if not redirects:
        return descriptors
    streams = dict(descriptors)
    for redirect in redirects:
        target = await expander.one(redirect.target)
        opened.stdin, opened.stdout, opened.stderr = three(streams)
        match redirect.kind:
            case RedirectKind.HERE_DOCUMENT:
                streams[redirect.descriptor] = BytesSource(encode(target))
            case RedirectKind.DUPLICATE_OUT | RedirectKind.DUPLICATE_IN:
                _duplicate(streams, redirect, target)
            case RedirectKind.READ:
                streams[redirect.descriptor] = _opened(opened, target, reading=True)
            case RedirectKind.WRITE | RedirectKind.CLOBBER | RedirectKind.APPEND:
                append = redirect.kind is RedirectKind.APPEND
                sink = _opened(opened, target, append=append)
                if redirect.descriptor < 0:
                    streams[1] = streams[2] = sink
                else:
                    streams[redirect.descriptor] = sink
            case RedirectKind.READ_WRITE:
                streams[redirect.descriptor] = _opened(opened, target, reading=True)
            case _:
                assert_never(redirect.kind)
    return streams


def _opened(
    opened: Call, path: str, *, reading: bool = False, append: bool = False
) -> Source | Sink:
    try:
        return opened.open_source(path) if reading else opened.open_sink(path, append=append)
    except OSError as error:
        action = "open" if reading else "create"
        raise CommandError(f"{SHELL_NAME}: can't {action} {path}: {error.strerror}") from error


def _duplicate(streams: Descriptors, redirect: Redirect, target: str) -> None:
    if target == "-":
        closed: Source | Sink = EmptySource() if redirect.descriptor == 0 else NullSink()
        streams[redirect.descriptor] = closed
    elif is_number(target) and int(target) in streams:
        streams[redirect.descriptor] = streams[int(target)]
    else:
        raise CommandError(f"{SHELL_NAME}: {target}: bad file descriptor")


async def complain(descriptors: Descriptors, text: str) -> None:
    """Write a line of the shell to stderr, if somebody reads it."""
    with contextlib.suppress(BrokenPipeError):
        await three(descriptors)[2].write(encode(text) + b"\n")


def three(descriptors: Descriptors) -> tuple[Source, Sink, Sink]:
    """Return stdin, stdout and stderr; closed ones are empty."""
    return as_source(descriptors.get(0)), as_sink(descriptors.get(1)), as_sink(descriptors.get(2))


def shell_text(error: CommandError | OSError) -> str:
    if isinstance(error, CommandError):
        return error.message
    return f"{SHELL_NAME}: {error.filename or ''}: {error.strerror}"

"""Turn text into device shell commands that type exactly that text by keys.

Not the device: nothing is sent here. Invariant: what the phone's shell and its `input` command make
of the commands is the text, character by character; what no key writes is known beforehand.

Two readers stand between: the shell, which single quotes keep out of everything; and Android's
`input text` (AOSP `InputShellCommand.sendText`), which turns `%s` into a space and offers no way to
write a literal `%s`, so the text is parted between its two characters.
"""

from collections.abc import Iterator

from agent.errors import TextEntryError

COMMAND_LIMIT_BYTES = 3500
"""Phones before Android 7 take at most 4096 bytes as a service name."""
PIECE_LIMIT_CHARS = 500
ENTER = 66
_EMPTY_FOLDER = "/data/local/tmp/switchboard-empty"
_FIRST_QUOTING_INPUT_SDK = 26
"""Before Android 8 `input` passed its arguments on unquoted, so that `*?[` met file names."""


def quote(text: str) -> str:
    """Quote a word for the phone's shell: within single quotes nothing has a meaning."""
    return "'" + text.replace("'", "'\\''") + "'"


def commands(text: str, *, sdk: int) -> list[str]:
    """Return the shell commands that type `text` into the focused field by keys, in order.

    Args:
        text: what `has_keys`.
        sdk: the phone's API level; 0 when unknown.
    """
    glob_risk = 0 < sdk < _FIRST_QUOTING_INPUT_SDK
    lines: list[str] = []
    for step in _steps(text):
        if not lines or len((lines[-1] + step).encode()) > COMMAND_LIMIT_BYTES:
            lines.append(step)
        else:
            lines[-1] += f" && {step}"
    if not glob_risk or not set(text) & set("*?[]"):
        return lines
    return [
        f"mkdir -p {_EMPTY_FOLDER}; cd {_EMPTY_FOLDER} && {line}; rc=$?; "
        f"cd /; rmdir {_EMPTY_FOLDER}; (exit $rc)"
        for line in lines
    ]


def check(serial: str, text: str) -> None:
    """Refuse what no way of typing carries. Raises TextEntryError naming the character."""
    for character in text:
        if (character < " " and character not in "\n\t") or (
            "\x7f" <= character <= "\x9f" or "\ud800" <= character <= "\udfff"
        ):
            raise TextEntryError(
                f"The character U+{ord(character):04X} cannot be typed on {serial}: no key writes "
                "it.",
                "Leave control characters out of the text.",
            )


def has_keys(text: str, *, unicode_input: bool) -> bool:
    """Return whether every character can go as a key: a tab would move the focus instead."""
    return all(
        character == "\n" or " " <= character <= "~" or (unicode_input and character > "~")
        for character in text
    )


def _steps(text: str) -> Iterator[str]:
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if index:
            yield f"input keyevent {ENTER}"
        for part in line.replace("%s", "%\0s").split("\0"):
            # A phone's `input` may take its arguments apart at spaces, so none is sent.
            for piece in _parts(part, PIECE_LIMIT_CHARS):
                yield f"input text {quote(piece.replace(' ', '%s'))}"


def _parts(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]

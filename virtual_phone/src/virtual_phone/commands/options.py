"""Options of the small commands, by getopt, with toybox's words when they are wrong."""

import getopt

from virtual_phone.shell.call import Call, CommandError


class Options:
    """What stood before the operands: flags and values, by letter."""

    def __init__(self, pairs: list[tuple[str, str]], operands: list[str]) -> None:
        self._given = [(name.lstrip("-"), value) for name, value in pairs]
        self._values: dict[str, str] = dict(self._given)
        self.operands = operands

    def __contains__(self, letter: object) -> bool:
        return letter in self._values

    def any(self, letters: str) -> bool:
        return any(letter in self._values for letter in letters)

    def text(self, letter: str, default: str = "") -> str:
        """Return an option's value."""
        return self._values.get(letter, default)

    def all(self, *names: str) -> list[str]:
        """Return the values of an option that may be given more than once, in order."""
        return [value for name, value in self._given if name in names]

    def number(self, call: Call, letter: str, default: int) -> int:
        """Return an option's whole number; raise CommandError when it is none."""
        return whole_number(call, self._values[letter]) if letter in self._values else default


def options(
    call: Call, letters: str, *, long: tuple[str, ...] = (), leading: bool = False
) -> Options:
    """Read the options of a call; `letters` as getopt wants them.

    With `leading`, options stop at the first operand.

    Raises:
        CommandError: an unknown option or a missing value.
    """
    read = getopt.getopt if leading else getopt.gnu_getopt
    try:
        pairs, operands = read(call.args, letters, list(long))
    except getopt.GetoptError as error:
        raise CommandError(
            f"{call.name}: Unknown option '{error.opt}' (see \"{call.name} --help\")"
        ) from error
    return Options(pairs, operands)


def whole_number(call: Call, text: str) -> int:
    """Return a whole number, with toybox's suffixes (k, m, g); raise CommandError."""
    scale = {"k": 1024, "m": 1024**2, "g": 1024**3}.get(text[-1:].lower(), 1)
    digits = text[:-1] if scale > 1 else text
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise CommandError(f"{call.name}: not integer: {text}")
    return sign * int(digits) * scale

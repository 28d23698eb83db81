"""What was typed and what came of it, in a file of lines, so that runs add up.

A script is known by its seed and by a digest of its bytes: another grammar makes other scripts of
the same seeds. Of a script that was typed several times the newest line counts.
"""

from hashlib import sha256
from pathlib import Path

import msgspec

from tests.console.burst.grammar import Token

ROOT = Path(__file__).parent.parent.parent.parent
_SOURCES = ("agent", "console", "widgets")


class Typed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One script, typed in all of its modes."""

    seed: int
    digest: str
    acts: int
    keys: int
    modes: tuple[str, ...]
    code: str  # Of the console that it was typed to.
    seconds: float
    differences: tuple[str, ...] = ()


class Record:
    """The lines of a file; one that was cut short by a kill is left out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._newest: dict[tuple[int, str, tuple[str, ...]], Typed] = {}
        if path.exists():
            for line in path.read_bytes().splitlines():
                try:
                    self._take(msgspec.json.decode(line, type=Typed))
                except msgspec.DecodeError:
                    continue

    def _take(self, one: Typed) -> None:
        self._newest.pop((one.seed, one.digest, one.modes), None)
        self._newest[one.seed, one.digest, one.modes] = one

    def add(self, one: Typed) -> None:
        """Keep a line, on disk before it returns."""
        self._take(one)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # After a line that was cut short a new one begins.
        before = self._path.read_bytes() if self._path.exists() else b""
        torn = bool(before) and not before.endswith(b"\n")
        with self._path.open("ab") as lines:
            lines.write(b"\n" * torn + msgspec.json.encode(one) + b"\n")

    def is_the_same(self, seed: int, digest: str, modes: tuple[str, ...]) -> bool:
        """Return whether this script was typed in these modes and came to the same in all."""
        known = self._newest.get((seed, digest, modes))
        return known is not None and not known.differences

    def summary(self) -> str:
        """Return how many scripts are on record, and which differ."""
        listed = self._newest.values()
        keys = sum(one.keys for one in listed)
        modes = sum(len(one.modes) for one in listed)
        differ = sorted(one.seed for one in listed if one.differences)
        said = f"On record: {len(listed)} scripts, {keys} keys, typed {modes} times: "
        said += f"{len(differ)} differ"
        return f"{said} (seeds {', '.join(map(str, differ))})" if differ else said


def digest_of(tokens: tuple[Token, ...]) -> str:
    return sha256(b"\0".join(token.sent for token in tokens)).hexdigest()[:12]


def code_now() -> str:
    whole = sha256()
    for folder in _SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            whole.update(path.read_bytes())
    return whole.hexdigest()[:12]

"""What work needs of its phone, as one line: `tag:wall,app:com.example>=3.2,locale:de`.

Not the finding of such a phone (`agent.placement.placing`). Invariants: what was read and written
again reads as the same; what cannot be read is refused with the field and the remedy.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.devices.fleet.labels import checked_tags
from agent.errors import UsageError
from agent.text import one_line

LIMIT_CHARS = 1000
LAST = "last"
"""In place of a session's id: the one that had a phone last."""
FIELDS = "tag:NAME, app:PACKAGE, locale:de, android>=13, sdk>=33, screen>=1080x1920, spread"
"""An example of each field, for errors and help."""
_ITEM = re.compile(r"(tag|app|locale|android|sdk|screen|same|spread)(?=$|[:<>=])(.*)", re.DOTALL)
_BOUND = re.compile(r"(>=|<=|=|>|<)\s*([^<>=]*)")
_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,7}")
_NUMBER = re.compile(r"\d{1,5}")
_SCREEN = re.compile(r"(\d{1,5})x(\d{1,5})")
_LOCALE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
_APP = re.compile(r"[^\W_][^<>=,\x00-\x1f]{0,199}")
_SESSION = re.compile(r"[\w.:-]{1,200}")

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit on a version, a number or a size: `>=3.2`."""

    sign: str  # `>=`, `<=`, `>`, `<` or `=`.
    value: str

    def holds(self, found: Version) -> bool:
        """Return whether what was found keeps to it; `=3` is any 3.x."""
        wanted = version_of(self.value)
        length = max(len(wanted), len(found))
        one = found + (0,) * (length - len(found))
        other = wanted + (0,) * (length - len(wanted))
        match self.sign:
            case ">=":
                return one >= other
            case "<=":
                return one <= other or found[: len(wanted)] == wanted
            case ">":
                return one > other and found[: len(wanted)] != wanted
            case "<":
                return one < other
            case _:
                return found[: len(wanted)] == wanted or one == other

    def allows_screen(self, width_px: int, height_px: int) -> bool:
        """Return whether a display keeps to it, however it is turned."""
        wide, high = sorted(map(int, self.value.split("x")))
        narrow, long = sorted((width_px, height_px))
        match self.sign:
            case ">=":
                return narrow >= wide and long >= high
            case "<=":
                return narrow <= wide and long <= high
            case _:
                return (narrow, long) == (wide, high)

    def __str__(self) -> str:
        return f"{self.sign}{self.value}"


@dataclass(frozen=True, slots=True)
class AppNeed:
    """An app that has to be there, by package or name, in a range of versions."""

    name: str
    bounds: tuple[Bound, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}{''.join(map(str, self.bounds))}"

    @property
    def shown(self) -> str:
        """Return it as a sentence has it: `com.example >= 3.2`."""
        return " ".join([self.name, *(f"{one.sign} {one.value}" for one in self.bounds)])


@dataclass(frozen=True, slots=True)
class Needs:
    """What a phone has to be, have, or have been used for."""

    tags: tuple[str, ...] = ()
    apps: tuple[AppNeed, ...] = ()
    locale: str = ""  # A language, or a language and a region: `de`, `de-AT`.
    android: tuple[Bound, ...] = ()
    sdk: tuple[Bound, ...] = ()
    screen: tuple[Bound, ...] = ()  # Width and height in pixels, whichever way the phone is turned.
    same: str = ""  # The phone that this session works on; `last`: that of the newest.
    spread: bool = False  # Of the phones that will do, the one that was used longest ago.

    @property
    def restricts(self) -> bool:
        """Whether any phone could be refused."""
        return bool(self.tags or self.asks_phone or self.screen or self.android)

    @property
    def asks_phone(self) -> bool:
        return bool(self.apps or self.locale or self.sdk)

    def __str__(self) -> str:
        return ",".join(
            (
                *(f"tag:{one}" for one in self.tags),
                *(f"app:{one}" for one in self.apps),
                *([f"locale:{self.locale}"] if self.locale else []),
                *([f"android{''.join(map(str, self.android))}"] if self.android else []),
                *([f"sdk{''.join(map(str, self.sdk))}"] if self.sdk else []),
                *([f"screen{''.join(map(str, self.screen))}"] if self.screen else []),
                *([f"same:{self.same}"] if self.same else []),
                *(["spread"] if self.spread else []),
            )
        )

    @property
    def shown(self) -> str:
        """Return what a phone needs as a sentence has it: `com.example >= 3.2 and the tag wall`."""

        def bounds(name: str, found: tuple[Bound, ...]) -> str:
            return " ".join([name, *(f"{one.sign} {one.value}" for one in found)])

        parts = (
            *(one.shown for one in self.apps),
            *(f"the tag {one}" for one in self.tags),
            *([f"the locale {self.locale}"] if self.locale else []),
            *([bounds("Android", self.android)] if self.android else []),
            *([bounds("SDK", self.sdk)] if self.sdk else []),
            *([bounds("a screen", self.screen)] if self.screen else []),
        )
        return " and ".join(parts)


def version_of(text: str) -> Version:
    """Return the numbers that a version begins with; `3.2.1-beta4 (77)` is 3, 2, 1."""
    found = re.search(r"\d{1,18}(?:\.\d{1,18})*", text)
    return tuple(map(int, found[0].split("."))) if found else ()


@lru_cache(maxsize=1024)
def parse_needs(text: str) -> Needs:
    """Read what a phone needs.

    Args:
        text: fields separated by commas; empty for no needs.

    Raises:
        UsageError: a field that is not known, is there twice or has a value that cannot be.
    """
    if len(text) > LIMIT_CHARS:
        raise UsageError(
            f"The needs are {len(text)} characters long.", f"Use at most {LIMIT_CHARS}."
        )
    tags: list[str] = []
    apps: dict[str, AppNeed] = {}
    once: dict[str, str] = {}
    ranges: dict[str, tuple[Bound, ...]] = {}
    for item in filter(None, map(str.strip, text.split(","))):
        found = _ITEM.fullmatch(item)
        if found is None:
            raise UsageError(f"needs: {one_line(item, 60)!r} is not a field.", f"Use {FIELDS}.")
        field, rest = found[1], found[2].strip()
        match field:
            case "tag":
                tags.append(_value(field, rest))
            case "app":
                app = _app(rest)
                if app.name.casefold() in apps:
                    raise _twice(f"app:{app.name}")
                apps[app.name.casefold()] = app
            case "android" | "sdk" | "screen":
                if field in ranges:
                    raise _twice(field)
                ranges[field] = _bounds(field, f"={rest[1:]}" if rest[:1] == ":" else rest)
            case "locale" | "same":
                if field in once:
                    raise _twice(field)
                once[field] = _value(field, rest)
            case _:
                if rest:
                    raise UsageError(
                        f"needs: spread has a value, {one_line(rest, 40)!r}.",
                        "Write spread by itself.",
                    )
                once[field] = field
    locale = once.get("locale", "")
    if locale and not _LOCALE.fullmatch(locale):
        raise UsageError(
            f"needs: locale is {one_line(locale, 40)!r}.", "Write a language as de or de-AT."
        )
    if (same := once.get("same", "")) and not _SESSION.fullmatch(same):
        raise UsageError(
            f"needs: same is {one_line(same, 40)!r}.",
            "Write the id of the session whose phone it is.",
        )
    return Needs(
        tags=checked_tags(tags, "phone"),
        apps=tuple(apps.values()),
        locale=locale.replace("_", "-"),
        android=ranges.get("android", ()),
        sdk=ranges.get("sdk", ()),
        screen=ranges.get("screen", ()),
        same=same,
        spread="spread" in once,
    )


def _twice(field: str) -> UsageError:
    return UsageError(
        f"needs: {one_line(field, 60)} occurs twice.", "Write it once; ranges as app:x>=3<4."
    )


def _value(field: str, rest: str) -> str:
    value = rest[1:].strip() if rest[:1] == ":" else ""
    if not value:
        raise UsageError(f"needs: {field} has no value.", f"Write {field}:VALUE.")
    return value


def _app(rest: str) -> AppNeed:
    value = _value("app", rest)
    cut = min((at for sign in "<>=" if (at := value.find(sign)) >= 0), default=len(value))
    name = value[:cut].strip()
    if not _APP.fullmatch(name):
        raise UsageError(
            f"needs: app is {one_line(name, 60)!r}.",
            "Write its package or its name, as app:com.example>=3.2.",
        )
    return AppNeed(name, _bounds("app", value[cut:]) if cut < len(value) else ())


def _bounds(field: str, text: str) -> tuple[Bound, ...]:
    """Read a range, as `>=3.2<4`. Raises UsageError."""
    found = [Bound(one[1], one[2].strip()) for one in _BOUND.finditer(text)]
    shape, example = {
        "sdk": (_NUMBER, "sdk>=33"),
        "screen": (_SCREEN, "screen>=1080x1920"),
        "android": (_VERSION, "android>=13"),
    }.get(field, (_VERSION, "app:com.example>=3.2"))
    whole = "".join(one[0] for one in _BOUND.finditer(text)) == text
    known = {">=", "<=", "="} if field == "screen" else {">=", "<=", "=", ">", "<"}
    good = whole and 1 <= len(found) <= 2
    if not good or any(not shape.fullmatch(one.value) or one.sign not in known for one in found):
        raise UsageError(
            f"needs: {field} has the range {one_line(text, 60)!r}.", f"Write it as {example}."
        )
    return tuple(found)

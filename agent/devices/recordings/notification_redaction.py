"""Replace what apps wrote in `dumpsys notification` and `cmd notification list`.

The list of what is posted is kept, with stand-ins for tags, groups and texts; what stands around it
(archives, rankings, zen rules with people's names) is left out and said. Invariants: a key has the
same stand-in in the header, in its own line and in the list of keys; names, types, numbers and
flags stay; whatever else is on a line that is not known to be Android's gets a stand-in.
"""

import re
from collections.abc import Callable, Iterable

from agent.devices.facts.notification_records import records_of
from agent.devices.recordings.stand_ins import Personal

Replace = Callable[[Personal, str], str]

LEFT_OUT = "  mLeftOut=what stands around the list of notifications\n"
_HEADING = re.compile(r"Current Notification Manager state\b.*")
_LIST = re.compile(r"[ \t]{0,4}Notification List:\s*")
_RECORD = re.compile(r"[ \t]{0,8}NotificationRecord\(0x")
_OTHER = re.compile(
    r" {0,3}(?:[A-Z][\w ]{0,40}(?:List|Queue|[Nn]otifications)\b[^=]*:|m[A-Z]\w*[=:])"
)
_ENTRY = re.compile(r"([ \t]*[^\s=(){}\"]{1,80}=)(.*)", re.DOTALL)
_TYPED = re.compile(
    r"((?:[A-Z]\w*)?(?:String|Sequence|List|Map|Bundle|Spanned\w*|SpannableString) \()(.*)",
    re.DOTALL,
)
_ELEMENT = re.compile(r"([ \t]*\[\d+\] )(.*)", re.DOTALL)
_KEY = re.compile(r"(-?\d+\|[^\s|]+\|-?\d+\|)(.*)(\|\d{1,10}(?:\|.*)?)", re.DOTALL)
_SAFE_CHANNEL = re.compile(r"null|[a-z_]{1,40}|0x[0-9a-fA-F]+")
_SAFE_TAG = re.compile(r"null|-?\d{1,6}|[a-z_]{1,20}|\d+\|[\w.]+\|g:Aggregate_\w+(?:\|\d{1,10})?")
_GROUP = re.compile(r"(\|g:)([^\s|:)]{1,200})")
_SAFE_GROUP = re.compile(r"Aggregate_\w+|ranker_group|-?\d{1,6}")
_SAFE_VALUE = re.compile(
    r"null|true|false|-?[\d.]{1,8}|0x[0-9a-fA-F]+|\{|\}|[\w$]+\[\] \(\d+\)|"
    r"[\w$.]+ \[length=\d+\]"
)
_SAFE_TYPED = re.compile(r"(?:Boolean|Integer|Float|Double|Long|Short|Byte) \(-?[\w.]{1,24}\)")
_KEPT_NAMES = re.compile(
    r"\s*(?:uid|userId|opPkg|icon|flags|pri|priority|key|seen|groupKey|importance|visibility|color|"
    r"defaults|number|when|id|user|category|notification|extras|actions|publicNotification)="
)
_CHANNEL = re.compile(r"((?<!\w)(?:channel|shortcut|semFlags|sortKey)=)(\S+)")


class NotificationRedaction:
    """Redacts both outputs of one phone: the dump first, for it says what the tags are."""

    def __init__(self, replace: Replace) -> None:
        self._replace = replace
        self._tags: dict[str, str] = {}

    def dump(self, text: str) -> str:
        """Return `dumpsys notification` with stand-ins; line ends and indentation stay."""
        if not _HEADING.search(text):
            # An error in one line, or nothing.
            return text
        text = self._keys(text, [record.key for record in records_of(text)])
        return _list_of(text, _Lines(self._replace, self._tags.values()))

    def listing(self, text: str) -> str:
        """Return `cmd notification list` with the same stand-ins as in the dump."""
        return self._keys(text, text.splitlines())

    def _keys(self, text: str, keys: list[str]) -> str:
        """Replace the tags and groups of keys wherever they stand."""
        text = self._with_tags(text)
        known = set(self._tags.values())
        for key in keys:
            found = _KEY.fullmatch(key.strip(" \r\n"))
            if found is None or _SAFE_TAG.fullmatch(found[2]) or found[2] in known:
                continue
            if found[2] not in self._tags:
                self._tags[found[2]] = self._replace(Personal.TAG, found[2])
        return _GROUP.sub(self._group, self._with_tags(text))

    def _with_tags(self, text: str) -> str:
        for said, made in sorted(self._tags.items(), key=lambda it: -len(it[0])):
            for before, after in (("|", "|"), ("tag=", " ")):
                text = text.replace(f"{before}{said}{after}", f"{before}{made}{after}")
        return text

    def _group(self, found: re.Match[str]) -> str:
        if _SAFE_GROUP.fullmatch(found[2]):
            return found[0]
        return found[1] + self._replace(Personal.TAG, found[2])


def _list_of(text: str, redactor: "_Lines") -> str:
    """Return the heading and the list of a dump, redacted; the rest is left out and said."""
    made: list[str] = []
    lines = text.splitlines(keepends=True)
    in_list = False
    is_left_out = False
    for line in lines:
        if _LIST.fullmatch(line.rstrip("\r\n")):
            in_list = True
            made.append(line)
        elif not in_list:
            if _HEADING.match(line) or line.startswith("WARNING: linker: "):
                made.append(line)
            else:
                is_left_out = True
        elif not _RECORD.match(line) and _OTHER.match(line):
            is_left_out = True
            break
        else:
            made.append(redactor.line(line))
    return "".join(made) + (LEFT_OUT if is_left_out else "")


class _Lines:
    """Redacts the lines of records, one after the other.

    Args:
        tags: the stand-ins of tags; one with line breaks goes on in the lines below.
    """

    def __init__(self, replace: Replace, tags: Iterable[str]) -> None:
        self._replace = replace
        broken = [tag.replace("\r", "").split("\n") for tag in tags if "\n" in tag]
        self._tag_lines = {line for tag in broken for line in tag[1:-1]}
        ends = [tag[-1] for tag in broken]
        self._tag_ends = tuple(f"{end}{rest}" for end in ends for rest in (" importance=", "|"))
        self._indent = -1
        """Of the entry whose text goes on in the next lines; −1: none does."""

    def line(self, line: str) -> str:
        body = line.rstrip("\r\n")
        return self._body(body) + line[len(body) :]

    def _body(self, body: str) -> str:
        if _RECORD.match(body):
            self._indent = -1
            return _CHANNEL.sub(lambda it: it[1] + self._channel(it[2]), body)
        if self._indent < 0 and (body in self._tag_lines or body.startswith(self._tag_ends)):
            return _CHANNEL.sub(lambda it: it[1] + self._channel(it[2]), body)
        indent = len(body) - len(body.lstrip(" \t"))
        entry = _ENTRY.match(body)
        if self._indent >= 0:
            ends = (entry is not None and indent == self._indent) or (
                body.strip() == "}" and indent < self._indent
            )
            if not ends:
                element = _ELEMENT.fullmatch(body)
                return (
                    element[1] + self._text(element[2]) if element is not None else self._text(body)
                )
            self._indent = -1
        if entry is None:
            return body if body.strip() in {"", "{", "}"} else self._text(body)
        return entry[1] + self._value(entry[1], entry[2], indent)

    def _value(self, name: str, value: str, indent: int) -> str:
        if name.strip() == "tickerText=" and value != "null":
            # It is printed as it is, whatever it looks like.
            self._indent = indent
            return self._text(value)
        if _SAFE_VALUE.fullmatch(value) or _SAFE_TYPED.fullmatch(value):
            # The elements of an array follow, each with a text.
            self._indent = indent if value.endswith(")") and "[]" in value else -1
            return value
        if _KEPT_NAMES.fullmatch(name):
            return value
        self._indent = indent
        typed = _TYPED.fullmatch(value)
        if typed is None:
            return self._text(value)
        end = ")" if typed[2].endswith(")") else ""
        return typed[1] + self._text(typed[2].removesuffix(")") if end else typed[2]) + end

    def _channel(self, name: str) -> str:
        return name if _SAFE_CHANNEL.fullmatch(name) else self._replace(Personal.TAG, name)

    def _text(self, said: str) -> str:
        return self._replace(Personal.TEXT, said) if said.strip() else said

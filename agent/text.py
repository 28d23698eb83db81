"""The one gate for foreign text: what a phone, a model, a log or a network peer wrote.

Not a redactor (that is `agent.safety`) and not a layout tool. Invariant: what `clean` returns holds
no control character but newline and tab, no escape sequence, no bidirectional override and no lone
surrogate, and no letter piled higher than any language writes, so a terminal can only show it.
Cleaning twice changes nothing.
"""

import re

# CSI; OSC, DCS, SOS, PM and APC up to BEL or ST; two-character escapes; and their C1 forms.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_LINE_ENDS = re.compile(r"\r\n?|\u2028|\u2029|\x85|\x0b|\x0c")
# C0 and C1 without tab and newline; what reorders or hides text; noncharacters; surrogates.
_FORBIDDEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f"
    r"\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    r"\ud800-\udfff\U000e0001\U000e0020-\U000e007f]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FLAG_TAGS = re.compile(r"\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
# Letters for private use, which icon fonts draw as icons, and the place of an image in a text.
_GLYPHS = re.compile("[\ue000-\uf8ff\ufffc\U000f0000-\U000ffffd\U00100000-\U0010fffd]+")
_SPACES = re.compile(r"\s+")
_UNUSUAL_SPACES = re.compile(r"[^\S \n\t]")
# The blocks of marks that stand on the letter before them. More than 30 on one are in no language:
# https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format
_MARKS = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f\U000e0100-\U000e01ef]"
)
_PILED = re.compile(f"({_MARKS}{{30}}){_MARKS}+")

ELLIPSIS = "…"


def lasting(duration_ms: int) -> str:
    """Return a duration in one unit: 340 ms, 8 s, 1.5 min, 24 h, 3 days."""
    for size_ms, unit, least in (
        (86_400_000, "days", 2),
        (3_600_000, "h", 2),
        (60_000, "min", 2),
        (1000, "s", 1),
    ):
        if duration_ms >= least * size_ms:
            return f"{round(duration_ms / size_ms, 1):g} {unit}"
    return f"{max(0, duration_ms)} ms"


def clean(text: str, limit: int = 100_000) -> str:
    """Make foreign text harmless to a terminal, keeping newlines and tabs.

    Args:
        text: anything, of any length.
        limit: the most characters that are returned; a longer text ends in an ellipsis.
    """
    # Printable text, which is nearly all there is, holds nothing of what is taken out below.
    if len(text) <= limit and text.isprintable():
        return _limit_marks(text)
    # A bounded head is enough: escapes only ever shrink, and a hostile label may be megabytes long.
    head = text[: limit * 4 + 64]
    is_cut = len(head) < len(text)
    head = _ESCAPES.sub("", _LINE_ENDS.sub("\n", head))
    cleaned = _drop_forbidden(head)
    if len(cleaned) > limit or is_cut:
        # Cut once more: the cut may have gone through a flag, and its loose tags must not stay.
        return _drop_forbidden(cleaned[: max(limit - 1, 0)]) + ELLIPSIS
    return cleaned


def without_controls(text: str) -> str:
    """Return a text without escape sequences and control characters but newline and tab."""
    return _CONTROLS.sub("", _ESCAPES.sub("", _LINE_ENDS.sub("\n", text)))


def _drop_forbidden(text: str) -> str:
    kept: list[str] = []
    at = 0
    # The flags of England, Scotland and Wales are the one lawful use of tag characters.
    for flag in _FLAG_TAGS.finditer(text):
        kept.append(_FORBIDDEN.sub("", text[at : flag.start()]))
        kept.append(flag.group())
        at = flag.end()
    kept.append(_FORBIDDEN.sub("", text[at:]))
    return _limit_marks("".join(kept))


def _limit_marks(text: str) -> str:
    return text if text.isascii() else _PILED.sub(r"\1", text)


def sentence(text: str) -> str:
    """End a text with a full stop unless it is a sentence already, so that another can follow."""
    text = text.rstrip().rstrip(";,")
    return text if not text or text.endswith((".", "!", "?", ":", ELLIPSIS)) else text + "."


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: 1 fact, 2 facts, 3 entries."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


_RESULT_CODE = re.compile(r"^(?:OK|RESOLVED|FAILED|UNKNOWN): ?")
_ADVICE = re.compile(
    r" (?:Try a different approach|Do not try this again|Look at the screen before acting again"
    r"|Correct the call and write it again"
    r"|If it is still needed, call it again: the operator is asked again"
    r"|Do only what is missing, or open the screen that shows the result"
    r"; if the goal is met, call finish again"
    r"(?:\. If it cannot be met, call finish with success=false and the reason)?)\.$"
)


_NEW_SCREEN = re.compile(r"\bNEW SCREEN: (\S{1,200}) \(was: \S{0,200}\)\.")
_NEW_APP = re.compile(r"\bNEW APP: Changed from \S{1,200} to (\S{1,200})\.(?=\s|$)")
"""What `agent.loop.screen.changes` says of another page and of another app."""


def call_result_words(text: str) -> str:
    """Return a call's result for a person: without the code before it and the advice after it,
    which are for the model, and with its change of page or app as a sentence.
    """
    said = _ADVICE.sub("", _RESULT_CODE.sub("", text))
    return _NEW_APP.sub(r"The app is now \1.", _NEW_SCREEN.sub(r"The page is now \1.", said))


def without_glyphs(text: str) -> str:
    """Return a text without the glyphs of icon fonts and the places of images in it."""
    if text.isascii() or not _GLYPHS.search(text):
        return text
    return _GLYPHS.sub("", text).strip()


def one_line(text: str, limit: int = 200) -> str:
    """Clean foreign text and fold every run of white space, newlines included, into one space."""
    if len(text) <= limit and text.isprintable() and text.strip() == text and "  " not in text:
        return text if text.isascii() else _limit_marks(text)
    folded = _SPACES.sub(" ", clean(text, max(limit * 4, 400))).strip()
    if len(folded) > limit:
        return folded[: max(limit - 1, 0)] + ELLIPSIS
    return folded


def with_line_breaks(text: str, limit: int = 200) -> str:
    """Clean foreign text as `one_line` does, but keep its line breaks; none at either end."""
    lines = "\n".join(one_line(line, limit) for line in clean(text, 4 * limit).splitlines())
    whole = lines.strip()
    return whole if len(whole) <= limit else whole[: max(limit - 1, 0)] + ELLIPSIS


def as_written(text: str, limit: int = 200) -> str:
    """Clean foreign text, but keep its line breaks and every space, wherever they stand."""
    return _UNUSUAL_SPACES.sub(" ", clean(text, limit))


def on_one_line(text: str, limit: int = 200) -> str:
    r"""Clean foreign text and write its line breaks as `\n` and tabs as `\t`; spaces stay."""
    shown = as_written(text, 2 * limit + 64).replace("\n", "\\n").replace("\t", "\\t")
    return shown if len(shown) <= limit else shown[: max(limit - 1, 0)] + ELLIPSIS

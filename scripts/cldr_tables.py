"""Write `agent/language/cldr.json`: how the languages of Android write dates, times and amounts.

The data is CLDR's, read through babel, which is needed only here and in the tests. Run
`python -m scripts.cldr_tables` after babel was updated; a test compares the file.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import babel
from babel import Locale
from babel.dates import get_relative_name, tokenize_pattern
from babel.localedata import locale_identifiers

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "agent" / "language" / "cldr.json"
_ANDROID = (
    "af am ar as az be bg bn bs ca cs da de el en es et eu fa fi fil fr gl gu he hi hr hu hy id is "
    "it ja ka kk km kn ko ky lo lt lv mk ml mn mr ms my nb ne nl no or pa pl pt ro ru si sk sl sq "
    "sr sv sw ta te th tr uk ur uz vi zh zu"
)
"""The languages that Android is translated into: `languages_full.mk` of its sources."""
LANGUAGES = frozenset(_ANDROID.split())

_LEFT_OUT = frozenset({"Dsrt", "Shaw"})  # Scripts of English that no phone is set to.
_FORMS = [(use, width) for use in ("format", "stand-alone") for width in ("wide", "abbreviated")]
_FIXED = {"am": "0-12", "pm": "12-24", "noon": "12-13", "midnight": "0-1"}
"""The hours of the periods that all languages have; of others each language has its own."""


def tables() -> dict[str, Any]:
    """Return the tables by language; a language's regions add their own words."""
    languages: dict[str, Any] = {}
    currencies: dict[str, set[str]] = {}
    for name in sorted(locale_identifiers()):
        locale = Locale.parse(name)
        if name == "zh_Latn" or name.startswith("zh_Latn_"):
            continue  # English words, for lack of others.
        if locale.language not in LANGUAGES or locale.script in _LEFT_OUT:
            continue
        language = languages.setdefault(locale.language, _empty())
        _add_names(language, locale)
        _add_joints(language, locale)
        _add_hours(language, locale)
        _add_multiples(language, locale)
        language["orders"][_tag(locale)] = _order(locale)
        for code, symbol in locale.currency_symbols.items():
            if symbol != code:
                currencies.setdefault(symbol, set()).add(code)
    for tag, language in languages.items():
        # Regions that write dates as their language does are not listed.
        usual = language["orders"][tag]
        language["orders"] = {
            place: order for place, order in language["orders"].items() if order != usual
        } | {tag: usual}
    return {
        "source": f"CLDR by babel {babel.__version__}, Unicode License v3",
        "languages": _sorted(languages),
        "currencies": _sorted(currencies),
    }


def _empty() -> dict[str, Any]:
    return {
        "months": [set() for _ in range(12)],
        "days": [set() for _ in range(7)],
        "short_days": [set() for _ in range(7)],
        "relative": {},
        "periods": {},
        "joints": set(),
        "hours": set(),
        "minutes": set(),
        "multiples": {},
        "orders": {},
    }


def _add_names(language: dict[str, Any], locale: Locale) -> None:
    affixes = set(_month_affixes(locale))
    for use, width in _FORMS:
        for number, name in locale.months[use][width].items():
            language["months"][number - 1] |= {name, *(f"{a}{name}{b}" for a, b in affixes)}
        for number, name in locale.days[use][width].items():
            language["days" if width == "wide" else "short_days"][number].add(name)
        for period, name in locale.day_periods.get(use, {}).get(width, {}).items():
            hours = _FIXED.get(period) or _hours_of(locale, period)
            if hours:
                language["periods"].setdefault(hours, set()).add(name)
    for offset in range(-2, 3):
        name = get_relative_name("day", offset, locale=locale)
        if name:
            language["relative"].setdefault(str(offset), set()).add(name)


def _add_joints(language: dict[str, Any], locale: Locale) -> None:
    """Add the words that patterns put between day, month and year: 3 de diciembre de 2026."""
    named = (
        locale.datetime_skeletons.get(name)
        for name in ("MMMd", "MMMEd", "yMMM", "yMMMd", "yMMMEd", "MMMMd", "yMMMM")
    )
    for pattern in (*locale.date_formats.values(), *filter(None, named)):
        text = "".join(
            str(part) if kind == "chars" else " "
            for kind, part in tokenize_pattern(pattern.pattern)
        )
        language["joints"].update(re.findall(r"[^\W\d_]+", text))


def _month_affixes(locale: Locale) -> Iterator[tuple[str, str]]:
    """Return what patterns write right before and behind a month: 19 ביוני, maiatzaren 30."""
    for pattern in locale.date_formats.values():
        text = pattern.pattern.replace("'", "")
        for found in re.finditer(r"([^\W\d_a-zA-Z]*)(?<!M)(MMMM?)(?!M)([^\W\d_]*)", text):
            if len(found[2]) > 2 and (found[1] or found[3]):
                yield found[1], found[3]


def _hours_of(locale: Locale, period: str) -> str:
    """Return the hours of a part of the day, as 21-6; empty where the language has none."""
    for rule in locale.day_period_rules.get(None, {}).get(period, ()):
        if "from" in rule:
            return f"{rule['from'] // 3600}-{rule['before'] // 3600}"
    return ""


def _add_hours(language: dict[str, Any], locale: Locale) -> None:
    """Add the words that patterns put after hours and minutes: 17 Uhr, 17 h 30, 17時30分."""
    skeletons = (locale.datetime_skeletons.get(name) for name in ("H", "h", "Hm", "hm", "Hms"))
    for pattern in (*locale.time_formats.values(), *filter(None, skeletons)):
        for field, word in _words_after(pattern.pattern):
            if field in "HhKk":
                language["hours"].add(word)
            elif field == "m":
                language["minutes"].add(word)


def _words_after(pattern: str) -> Iterator[tuple[str, str]]:
    field = ""
    for literal, parts in groupby(tokenize_pattern(pattern), key=lambda part: part[0] == "chars"):
        if literal and field:
            words = re.findall(r"[^\W\d_][^\s.:]*", "".join(str(text) for _, text in parts))
            if words:
                yield field, words[0]
        else:
            field = [name[0] for _, name in parts][-1]


def _add_multiples(language: dict[str, Any], locale: Locale) -> None:
    """Add the words of short numbers with their power of ten: Mio. is 6, 万 is 4."""
    for width in ("short", "long"):
        for plural in locale.compact_decimal_formats.get(width, {}).values():
            for size, pattern in plural.items():
                # Swahili's stand before the number, and its sizes have as many patterns as digits.
                word = pattern.suffix[0].strip(" \u202f\u00a0\u200f\u200c").replace("'", "")
                zeros = pattern.pattern.partition(";")[0].count("0")
                if word and any(map(str.isalpha, word)) and zeros:
                    power = len(str(size)) - zeros
                    language["multiples"].setdefault(str(power), set()).add(word)


def _order(locale: Locale) -> str:
    """Return the order of day, month and year in a short date: dmy, mdy or ymd."""
    fields = (
        part[1][0]
        for part in tokenize_pattern(locale.date_formats["short"].pattern)
        if part[0] == "field"
    )
    return "".join({"d": "d", "M": "m", "L": "m", "y": "y"}.get(field, "") for field in fields)


def _tag(locale: Locale) -> str:
    return "-".join(filter(None, (locale.language, locale.script, locale.territory)))


def _sorted(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _sorted(value) for key, value in sorted(node.items())}
    if isinstance(node, Iterable) and not isinstance(node, str):
        return sorted(map(_sorted, node)) if isinstance(node, set) else list(map(_sorted, node))
    return node


def written() -> str:
    """Return the text of the file: a line for each language and currency."""
    found = tables()
    lines = [f'"source": {json.dumps(found["source"])}']
    for table in ("languages", "currencies"):
        rows = ",\n".join(
            f"{json.dumps(key, ensure_ascii=False)}: "
            f"{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
            for key, value in found[table].items()
        )
        lines.append(f'"{table}": {{\n{rows}\n}}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")

"""Find what a page of the system does by which page it is: names of packages and activities.

They are in no language. `system_pages.toml` has them, with the AOSP source of each.
"""

import re
import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec

from agent.records import EffectVerb, Element
from agent.safety.effects.finding import Finding
from agent.safety.effects.page import Page, looks_refusing
from agent.safety.effects.structure.ending import (
    LEAVING,
    commits_as_refusal,
    ends,
    leads_away,
    sign_of,
)
from agent.safety.effects.verbs import RULES

FILE = Path(__file__).with_name("system_pages.toml")
_HOST = re.compile(r"\s*(?:[\w-]+\.)+[a-z]{2,}\s*|\s*\d{1,3}(?:\.\d{1,3}){3}\s*|\s*\w+://\S+", re.I)
_SETTINGS = "com.android.settings"


class SystemPage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of the system, and what its controls do."""

    package: str
    """A part of the package's name."""
    verb: EffectVerb
    activity: str = ""
    """A part of the activity's name in any case; empty: every activity of the package."""
    by: tuple[str, ...] = ("ending",)
    """Which controls: `ending` what it ends with, `switch` what is turned, `row` what is chosen,
    `any` whatever does not refuse."""
    turned: str = ""
    """`off`: only a switch that is on."""


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    page: tuple[SystemPage, ...]


@lru_cache(maxsize=1)
def _pages() -> tuple[SystemPage, ...]:
    return msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8")), _File).page


def find_on_system_page(element: Element, page: Page) -> Finding | None:
    """Find what a control of a system's page does; None: it is no such page, or leads away."""
    refuses = looks_refusing(element) or sign_of(element) in LEAVING
    if refuses and not commits_as_refusal(element, page):
        return None
    activity = page.screen.foreground.activity.casefold()
    for known in _pages():
        if known.package not in page.package or known.activity.casefold() not in activity:
            continue
        if _is_meant(element, page, known):
            said = f'"{element.label[:60]}" of this page of the system may {RULES[known.verb].says}'
            return Finding(known.verb, said, element=element)
    host = next((f for f in page.filled if _HOST.fullmatch(f.value)), None)
    if page.package == _SETTINGS and host is not None and ends(element, page):
        said = f'"{element.label[:60]}" leads this phone\'s traffic over "{host.value[:60]}"'
        return Finding(EffectVerb.PROTECTION, said, element=element)
    return None


def _is_meant(element: Element, page: Page, known: SystemPage) -> bool:
    if "any" in known.by:
        return True
    if leads_away(element, page) or (page.is_toolbar(element) and not ends(element, page)):
        return False
    if element.checkable or element.kind in {"switch", "radio", "checkbox"}:
        return "switch" in known.by and (known.turned != "off" or element.checked)
    if page.is_listed(element):
        return "row" in known.by
    return "ending" in known.by and (ends(element, page) or page.is_dialog)

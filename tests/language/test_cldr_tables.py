"""The tables in the repository are what CLDR says."""

from agent.language.cldr import FILE, languages
from scripts.cldr_tables import LANGUAGES, written


def test_the_tables_are_those_of_the_pinned_cldr() -> None:
    stored = FILE.read_text(encoding="utf-8")
    assert stored == written(), "run: python -m scripts.cldr_tables"


def test_every_language_of_android_has_names() -> None:
    assert set(languages()) == LANGUAGES

"""What the phone draws with the fonts that are there."""

import importlib.util
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from support.hand import new_phone
from virtual_phone.display import fonts

CACHES = (fonts.installed, fonts.runs, fonts.width_of, fonts.face_of)


@pytest.fixture
def latin_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installation without the extras `fonts` and `emoji`."""
    find = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name.startswith(("manimgx", "openmoji")) else find(name, package)

    def forget() -> None:
        for function in CACHES:
            clear = getattr(function, "cache_clear", None)
            if clear is not None:
                clear()

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    forget()
    yield
    forget()


def test_every_script_has_its_face_where_the_extras_are() -> None:
    faces = [run.face.name if run.face else None for run in fonts.runs("a漢😀")]
    assert faces == ["latin", "cjk", "emoji"]


def test_without_the_extras_latin_is_drawn_and_the_rest_as_boxes(latin_alone: None) -> None:
    faces = [run.face.name if run.face else None for run in fonts.runs("a漢😀")]
    assert faces == ["latin", None, None]
    assert fonts.width_of("漢", 100, 400) == 100 * fonts.BOX_WIDTH


def test_a_phone_without_the_extras_shows_its_screens(latin_alone: None, tmp_path: Path) -> None:
    phone = new_phone(tmp_path)
    for package in ("com.android.settings", "com.android.messaging", "com.android.notes"):
        phone.activities.launch(package)
        dark, light = phone.compositor.screenshot().convert("L").getextrema()
        assert dark != light, package
    phone.close()

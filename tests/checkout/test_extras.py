"""What is optional says how to get it, and is not needed by anything else."""

import importlib.util
import re
import tomllib
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from agent.devices.scrcpy.recorder import check_name
from agent.devices.scrcpy.video_run import need_decoder
from agent.errors import DeviceError, StoreError, SwitchboardError, UsageError
from agent.extras import EXTRAS, install, is_installed, missing
from agent.loop.images.scaling import scaled
from console.report.pictures import write_mp4

ROOT = Path(__file__).parents[2]
LIBRARIES = {extra.library for extra in EXTRAS.values()}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installation without any extra."""
    find = importlib.util.find_spec

    def found(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name in LIBRARIES else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", found)
    is_installed.cache_clear()
    yield
    is_installed.cache_clear()


def test_every_extra_of_the_package_is_known_and_the_other_way_round() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["optional-dependencies"]) - {"all"} == set(EXTRAS)
    (every,) = project["optional-dependencies"]["all"]
    named = set(re.findall(r"\w+", every.partition("[")[2]))
    # All but one of these are as heavy as everything else together; an S3 client's pins are strict.
    assert named == set(EXTRAS) - {"datasets", "eval", "ocr", "openenv", "s3"}


def test_no_library_of_an_extra_is_a_base_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(rows: list[str]) -> set[str]:
        return {re.split(r"[<>=!~\[; ]", row, maxsplit=1)[0] for row in rows}

    optional = {
        name
        for extra, rows in project["optional-dependencies"].items()
        for name in names(rows)
        if extra != "all"
    }
    assert names(project["dependencies"]).isdisjoint(optional)


@pytest.mark.parametrize(
    ("act", "kind", "extra"),
    [
        (need_decoder, DeviceError, "video"),
        (lambda: check_name(Path("film.mp4")), UsageError, "video"),
        (lambda: write_mp4(Path("film.mp4"), [], 360, lambda _at, _of: None), StoreError, "video"),
    ],
)
def test_what_needs_an_extra_says_which(
    bare: None, act: Callable[[], None], kind: type[SwitchboardError], extra: str
) -> None:
    with pytest.raises(kind) as refused:
        act()
    assert refused.value.message == missing(extra)
    assert install(extra) in refused.value.remedy


def test_a_picture_for_a_model_is_scaled_without_ffmpeg_too(bare: None) -> None:
    data = (ROOT / "tests/data/devices/android-4.4.2/calculator_landscape.png").read_bytes()
    picture = scaled(data)
    assert picture is not None and min(picture.size) <= 768

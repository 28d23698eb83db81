"""What a phone prints has the shape that Android's sources and recordings give, in each version."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.shapes import Shape, read_shape
from virtual_phone.android.version import VERSIONS
from virtual_phone.embedded import EmbeddedHost, EmbeddedPhone
from virtual_phone.state.profiles import profile_names

SHAPES = Path(__file__).parents[1] / "data" / "shapes"
COMMANDS = {
    "window": "dumpsys window",
    "window_displays": "dumpsys window displays",
    "window_windows": "dumpsys window windows",
    "window_policy": "dumpsys window policy",
    "activities": "dumpsys activity activities",
    "input_method": "dumpsys input_method",
    "notification": "dumpsys notification --noredact",
    "power": "dumpsys power",
    "battery": "dumpsys battery",
    "thermal": "dumpsys thermalservice",
    "display": "dumpsys display",
}
STATES = {
    "at home": "input keyevent 3",
    "an app": "am start -n com.android.settings/.Settings",
    "typing": "am start -n com.example.notes/.EditActivity; input tap 500 700",
    "asked": "am start -n com.android.settings/.Settings; cmd statusbar expand-notifications",
    "turned": "am start -n com.android.settings/.Settings; wm user-rotation lock 1",
    "resized": "wm size 720x1600; am start -n com.android.settings/.Settings",
}


@pytest.fixture(scope="module", params=VERSIONS)
def phone(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedPhone]:
    folder = tmp_path_factory.mktemp("phones")
    with EmbeddedHost(folder, android=request.param) as host:
        made = host.new_phone()
        made.reset()
        yield made


def shape_of(command: str, phone: EmbeddedPhone) -> Shape:
    form = phone._phone.form_factor
    return read_shape(SHAPES / f"{command}.txt", form.android.number, form.profile.maker)


async def wrong_in(phone: EmbeddedPhone) -> dict[str, list[str]]:
    """Return what is wrong with each dump of a phone as it is."""
    found = {}
    for command, words in COMMANDS.items():
        _, text = await phone.shell(words)
        found[command] = shape_of(command, phone).wrong(text)
    return {command: wrong for command, wrong in found.items() if wrong}


@pytest.mark.parametrize("state", STATES)
async def test_every_dump_has_the_shape_of_its_version(phone: EmbeddedPhone, state: str) -> None:
    phone.reset()
    await phone.shell(f"{STATES[state]}; cmd notification post -t Title tag text")
    phone.settle()
    assert await wrong_in(phone) == {}


async def test_the_dump_of_an_anr_is_kept_and_stale(phone: EmbeddedPhone) -> None:
    phone.reset()
    await phone.shell("am start -n com.android.settings/.Settings; am hang com.android.settings")
    _, text = await phone.shell("dumpsys window lastanr")
    assert shape_of("window_lastanr", phone).wrong(text) == []
    await phone.shell("input keyevent 3; am start -n com.android.deskclock/.DeskClock")
    _, bare = await phone.shell("dumpsys window")
    old, live = bare.find("com.android.settings"), bare.find("com.android.deskclock")
    assert 0 <= old < live, "what was then comes before what is now"
    phone.wait(2 * 3600)
    assert "no ANR has occurred" in (await phone.shell("dumpsys window lastanr"))[1]


@pytest.mark.parametrize("profile", profile_names())
async def test_every_kind_of_phone_prints_in_the_shape_of_its_version_and_maker(
    profile: str, tmp_path: Path
) -> None:
    with EmbeddedHost(tmp_path, profile=profile) as host:
        phone = host.new_phone()
        phone.reset()
        await phone.shell("cmd notification post -t Title tag text")
        assert await wrong_in(phone) == {}


def test_a_shape_finds_what_is_missing_misplaced_forbidden_or_unknown() -> None:
    shape = Shape(
        must=["a=<n>", "b=<bool>"],
        begins=["Display #<n>"],
        in_block=["  size=<size>"],
        must_not=["<any>old=<any>"],
        keys={"a", "b", "size"},
    )
    good = "a=1\nb=true\nDisplay #0\n  size=1x2\nDisplay #1\n  size=3x4"
    assert shape.wrong(good) == []
    assert shape.wrong(good.replace("\n", "\r\n")) == []
    assert "at its place" in shape.wrong("b=true\na=1\nDisplay #0\n  size=1x2")[0]
    assert "'Display #1'" in shape.wrong(good.removesuffix("\n  size=3x4"))[0]
    assert "must not be there" in shape.wrong(good + "\nold=1")[0]
    assert shape.wrong(good + "\nnew=1") == ["no phone prints this key: new"]
    assert shape.wrong(good + "\nnew=1", is_whole=False) == []

"""What is chosen from rows, how a passport is kept, and when it is void."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.devices.passport.choosing import TEXT_ORDER, choose, input_row, text_row
from agent.devices.passport.page import page
from agent.devices.passport.passport import (
    Area,
    CaptureWay,
    InputWay,
    Outcome,
    Passport,
    Row,
    TreeWay,
)
from agent.devices.passport.passport_file import PassportFolder
from agent.devices.passport.scripts import SAMPLES, scripts_of
from agent.devices.protocols import TextWay
from agent.errors import UsageError

PASSPORT = Passport(serial="R5CT1234", phone="R5CT1234", fingerprint="maker/one:14/A/1:user")
OUTCOMES = st.sampled_from(Outcome)


def row(
    area: Area, name: str, outcome: Outcome = Outcome.WORKS, *, took_ms: int = 10, detail: str = ""
) -> Row:
    return Row(area=area, name=name, outcome=outcome, detail=detail, took_ms=took_ms)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], None),
        ([row(Area.CAPTURE, "screencap", took_ms=90), row(Area.CAPTURE, "video")], "screencap"),
        ([row(Area.CAPTURE, "screencap", took_ms=900), row(Area.CAPTURE, "video")], "video"),
        ([row(Area.CAPTURE, "screencap", took_ms=900)], "screencap"),
        ([row(Area.CAPTURE, "screencap", Outcome.FAILS), row(Area.CAPTURE, "video")], "video"),
    ],
)
def test_an_exact_picture_is_chosen_unless_it_is_slow_and_video_works(
    rows: list[Row], expected: str | None
) -> None:
    assert choose(rows).capture == expected


@given(st.dictionaries(st.sampled_from(["tap", "swipe", "key"]), OUTCOMES), st.data())
def test_a_way_of_touching_is_chosen_only_where_a_touch_had_an_effect(
    shell: dict[str, Outcome], data: st.DataObject
) -> None:
    control = data.draw(st.dictionaries(st.sampled_from(["tap", "swipe", "key"]), OUTCOMES))
    told = {InputWay.SHELL: shell, InputWay.CONTROL: control}
    rows = [
        row(Area.INPUT, input_row(way, act), outcome)
        for way, acts in told.items()
        for act, outcome in acts.items()
    ]
    choices = choose(rows)
    touched = {way: {told[way].get(act) for act in ("tap", "swipe")} for way in InputWay}
    if choices.input is not None:
        assert Outcome.WORKS in touched[choices.input]
    else:
        assert not any(Outcome.WORKS in seen for seen in touched.values())
    for way in choices.inputs_failing:
        assert Outcome.FAILS in touched[way] and Outcome.WORKS not in touched[way]


def test_what_is_not_there_is_not_what_fails() -> None:
    dump = row(Area.TREE, TreeWay.DUMP)
    absent = choose([row(Area.TREE, TreeWay.SERVICE, Outcome.ABSENT), dump])
    failing = choose([row(Area.TREE, TreeWay.SERVICE, Outcome.FAILS), dump])
    assert absent.tree == failing.tree == TreeWay.DUMP
    assert (absent.trees_failing, failing.trees_failing) == ((), (TreeWay.SERVICE,))


@given(
    st.dictionaries(st.tuples(st.sampled_from(TextWay), st.sampled_from(sorted(SAMPLES))), OUTCOMES)
)
def test_text_goes_only_ways_that_were_read_back_in_its_script(
    told: dict[tuple[TextWay, str], Outcome],
) -> None:
    rows = [row(Area.TEXT, text_row(way, script), one) for (way, script), one in told.items()]
    chosen = choose(rows).text
    working = {key for key, one in told.items() if one is Outcome.WORKS}
    assert {(way, script) for script, ways in chosen.items() for way in ways} == working
    for ways in chosen.values():
        assert list(ways) == sorted(ways, key=TEXT_ORDER.index)


@pytest.mark.parametrize("script", SAMPLES)
def test_a_sample_is_written_in_its_script(script: str) -> None:
    assert scripts_of(SAMPLES[script]) - {"ASCII"} == {script} - {"ASCII"} or (
        # Both are written with Chinese letters, and punctuation of both is nobody's.
        script in {"Japanese", "Chinese"} and script in scripts_of(SAMPLES[script])
    )


def test_a_passport_is_kept_beside_its_page_and_is_this_users_alone(tmp_path: Path) -> None:
    shelf = PassportFolder.of(tmp_path)
    kept, readable = shelf.keep(PASSPORT)
    assert shelf.load(PASSPORT.phone) == PASSPORT
    assert readable.read_text(encoding="utf-8") == page(PASSPORT)
    assert kept.stat().st_mode & 0o077 == readable.stat().st_mode & 0o077 == 0


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), unique=True))
def test_serials_of_any_letters_have_files_of_their_own(serials: list[str]) -> None:
    shelf = PassportFolder(Path("passports"))
    paths = [shelf.path(serial) for serial in serials]
    assert len(set(paths)) == len(serials)
    assert all(path.parent == shelf.folder and path.name.isascii() for path in paths)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"null", b"[]", b"\xff", b'{"serial": 1}', b"{}" * 10], ids=repr
)
def test_a_passport_that_cannot_be_read_is_none(tmp_path: Path, data: bytes) -> None:
    shelf = PassportFolder.of(tmp_path)
    kept, _ = shelf.keep(PASSPORT)
    kept.write_bytes(data)
    assert shelf.load(PASSPORT.phone) is None


def test_a_passport_of_another_version_is_none(tmp_path: Path) -> None:
    shelf = PassportFolder.of(tmp_path)
    kept, _ = shelf.keep(PASSPORT)
    kept.write_bytes(msgspec.json.encode(replace(PASSPORT, version=PASSPORT.version + 1)))
    assert shelf.load(PASSPORT.phone) is None


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "passports").write_text("a file", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        PassportFolder.of(tmp_path).keep(PASSPORT)


@pytest.mark.parametrize(
    ("phone", "fingerprint", "counts"),
    [
        ("R5CT1234", "maker/one:14/A/1:user", True),
        ("R5CT1234", "maker/one:14/A/2:user", False),
        ("R5CT9999", "maker/one:14/A/1:user", False),
        ("R5CT1234", "", False),
        ("", "maker/one:14/A/1:user", False),
    ],
)
def test_a_passport_counts_for_its_phone_and_build_alone(
    phone: str, fingerprint: str, counts: bool
) -> None:
    assert PASSPORT.is_of(phone, fingerprint) is counts


@given(st.text(max_size=60), st.text(max_size=200))
def test_what_a_phone_says_cannot_leave_its_cell_on_the_page(name: str, detail: str) -> None:
    told = replace(PASSPORT, model=name, rows=(row(Area.LINK, name, detail=detail),))
    plain = replace(PASSPORT, rows=(row(Area.LINK, "x"),))
    assert len(page(told).splitlines()) == len(page(plain).splitlines())
    (cell,) = [line for line in page(told).splitlines() if line.endswith("|  |")]
    assert cell.replace("\\|", "").count("|") == 6


def test_the_page_has_every_row_and_every_choice() -> None:
    rows = tuple(row(area, f"name of {area}", outcome) for area in Area for outcome in Outcome)
    made = page(replace(PASSPORT, rows=rows, choices=choose(rows)))
    for one in rows:
        assert made.count(f"| {one.name} |") == len(Outcome)
    assert "Pictures: no way was seen to work" in made
    assert CaptureWay.SCREENCAP not in made

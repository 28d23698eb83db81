"""What a terminal sends: cut, torn, late or twice, it means what it means whole."""

import logging
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.events import Key, Paste

from console.terminal_input.grammar import MOST_BODY_BYTES, MOST_PASTE_BYTES
from tests.console.terminal_input.gate_seat import GateSeat, names
from tests.console.terminal_input.sent import ALL, KEYS, REPLIES, Sent


def test_there_are_as_many_kinds_as_terminals_send() -> None:
    assert len({one.raw for one in ALL}) == len(ALL) >= 250


@pytest.mark.parametrize("sent", ALL, ids=lambda one: repr(one.raw))
def test_whole_it_is_what_it_means_and_twice_it_is_that_twice(sent: Sent) -> None:
    seat = GateSeat()
    assert names(seat.read(sent.raw, gap_s=0.0)) == list(sent.means)
    assert names(seat.read(sent.raw + sent.raw)) == [*sent.means, *sent.means]
    assert names(seat.wait(5.0)) == [] and names(seat.read(b"k")) == ["k"]
    assert not seat.failed


def test_however_the_line_cuts_it_it_is_the_same() -> None:
    for sent in ALL:
        for at in range(1, len(sent.raw)):
            found = names(GateSeat().read(sent.raw[:at], sent.raw[at:]))
            assert found == list(sent.means), (sent, at)
        one_by_one = [sent.raw[at : at + 1] for at in range(len(sent.raw))]
        assert names(GateSeat().read(*one_by_one)) == list(sent.means), sent


@given(
    parts=st.lists(st.sampled_from(ALL), max_size=8), cuts=st.lists(st.integers(0, 200), max_size=6)
)
def test_one_after_another_they_are_what_each_is(parts: list[Sent], cuts: list[int]) -> None:
    whole = b"".join(one.raw for one in parts)
    edges = sorted({0, *(min(cut, len(whole)) for cut in cuts), len(whole)})
    pieces = [whole[a:b] for a, b in pairwise(edges)]
    assert names(GateSeat().read(*pieces)) == [name for one in parts for name in one.means]


@pytest.mark.parametrize("gap_s", [0.2, 0.7, 2.0])
def test_an_answer_whose_rest_comes_late_is_no_key_wherever_it_was_cut(gap_s: float) -> None:
    for sent in REPLIES:
        for at in range(1, len(sent.raw)):
            rest = sent.raw[at:]
            found = names(GateSeat(is_awaited=True).read(sent.raw[:at], rest, gap_s=gap_s))
            # At most the escape, which may have been a key, and a last byte that is a key alone.
            assert found in ([], ["escape"]) or is_one_key(rest, found), (sent, at, found)


def is_one_key(rest: bytes, found: list[str]) -> bool:
    """Return whether the rest of a string that nothing is known of came as one key does."""
    return len(rest) <= 3 and rest[:1] != b"\x1b" and len(found) <= 3 and "enter" not in found


@pytest.mark.parametrize("is_awaited", [True, False])
@pytest.mark.parametrize("raw", [b"\x1b[<35;10;7M", b"\x1b[A", b"\x1b[97;5u", b"\x1b[?2026;2$y"])
def test_the_rest_of_a_key_or_report_is_not_typed_when_it_comes_late(
    raw: bytes, is_awaited: bool
) -> None:
    for at in range(1, len(raw)):
        seat = GateSeat(is_awaited=is_awaited)
        before = names(seat.read(raw[:at], gap_s=0.7))
        after = names(seat.read(raw[at:], gap_s=0.7))
        assert before in ([], ["escape"]) and not set(after) - {
            "TerminalSupportsSynchronizedOutput"
        }, (at, before, after)


@pytest.mark.parametrize("key", [b"x", b"\x18", b"\r", b"k", b"?", b"n", b"a"])
def test_a_key_after_whatever_was_torn_is_that_key(key: bytes) -> None:
    alone = names(GateSeat().read(key))
    torn = {sent.raw[:at] for sent in (*REPLIES, *KEYS) for at in range(1, len(sent.raw))}
    for begun in sorted(torn):
        seat = GateSeat()
        seat.read(begun, gap_s=0.7)
        found = names(seat.read(key, gap_s=0.7))
        # What a sequence lacked may look like a key; a moment later it is one in any case.
        is_its_end = begun[:2] in (b"\x1b[", b"\xc2\x9b") or begun[:1] == b"\x9b"
        assert found == alone or (is_its_end and key in b"na" and found == []), (begun, found)
        seat = GateSeat()
        seat.read(begun, gap_s=3.0)
        assert names(seat.read(key, gap_s=0.7)) == alone, begun


def test_whoever_asked_gets_the_answer_and_in_the_time_it_takes() -> None:
    answers = {
        b"\x1b_Gi=31;OK\x1b\\": ("kitty", "i=31;OK"),
        b"\x1b[?62;4;22c": ("attributes", "62;4;22"),
        b"\x1b[?1;0;256S": ("graphics", "1;0;256"),
    }
    for raw, heard in answers.items():
        for at in range(len(raw)):
            for gap_s in (0.0, 0.7, 1.5):
                seat = GateSeat(is_awaited=True)
                seat.read(raw[:at], raw[at:], gap_s=gap_s)
                last_alone = gap_s and at == len(raw) - 1 and raw[at:] == b"\\"
                assert seat.heard == [heard] or last_alone, (raw, at, gap_s)


def test_a_body_too_long_for_an_answer_is_none() -> None:
    seat = GateSeat()
    assert names(seat.read(b"\x1b_G" + b"x" * 5_000 + b"\x1b\\k")) == ["k"]
    assert seat.heard == []


def test_a_size_counts_only_once_the_terminal_said_that_it_reports_it() -> None:
    report = b"\x1b[48;40:0;140:1;720;1260t"
    seat = GateSeat()
    assert names(seat.read(report)) == []
    assert names(seat.read(b"\x1b[?2048;2$y", report)) == ["InBandWindowResize", "Resize"]
    for wrong in (b"0;0;0;0", b"9999;9999;1;1", b"40;140", b"40;140;720;1260;5", b"-4;5;6;7"):
        assert names(seat.read(b"\x1b[48;" + wrong + b"t")) == []
    assert names(seat.read(b"\x1b[48;40;140;0;0t\x1b[<35;10;7M")) == ["Resize", "MouseMove"]


def test_vtes_never_is_no_support_of_drawing_at_once() -> None:
    for setting, is_there in ((0, False), (1, True), (2, True), (3, True), (4, False)):
        assert bool(GateSeat().read(b"\x1b[?2026;%d$y" % setting)) is is_there


def test_a_lone_escape_is_a_key_after_a_moment() -> None:
    seat = GateSeat()
    assert names(seat.read(b"\x1b")) == []
    assert names(seat.wait(0.3)) == ["escape"]
    assert names(seat.read(b"\x1b\x1b", gap_s=0.3)) == ["escape", "escape"]
    assert names(seat.read(b"\x1bxp\x1b\r")) == ["escape", "x", "p", "escape", "enter"]
    assert names(GateSeat(frozenset("A")).read(b"\x1bA\x1ba")) == ["alt+shift+a", "escape", "a"]


def test_a_key_of_rxvt_that_ends_with_an_intermediate_is_one_after_a_moment() -> None:
    assert names(GateSeat().read(b"\x1b[3$", gap_s=0.6)) == ["shift+delete"]
    assert names(GateSeat().read(b"\x1b[3$", b"p", gap_s=0.2)) == []


def test_esc_and_a_key_that_begins_a_string_are_two_keys_where_no_answer_is_awaited() -> None:
    for key in "OPX]_^":
        seat = GateSeat()
        found = seat.read(f"\x1b{key}".encode(), gap_s=0.7)
        assert [getattr(one, "character", "") for one in found] == ["\x1b", key]
        assert names(GateSeat(is_awaited=True).read(f"\x1b{key}".encode(), gap_s=0.7)) == []


def test_what_is_pasted_acts_on_nothing_and_has_no_controls() -> None:
    [paste] = GateSeat().read(b"\x1b[200~a\x1b[200~b\x18\x00\x1b[Ac\r\nd\te\x9b\xc2\x9b\x1b[201~")
    assert isinstance(paste, Paste) and paste.text == "abc\r\nd\te"


def test_a_paste_that_stalls_is_a_paste_and_what_comes_late_of_it_too() -> None:
    seat = GateSeat()
    assert names(seat.read(b"\x1b[200~one\r")) == []
    [paste] = seat.wait(4.0)
    assert isinstance(paste, Paste) and paste.text == "one\r"
    [paste] = seat.read(b"two\rx\r")
    assert isinstance(paste, Paste) and paste.text == "two\rx\r"
    assert names(seat.read(b"j", gap_s=0.5)) == ["j"]
    found = seat.read(b"end\r\x1b[201~k")
    assert names(found) == ["Paste", "k"] and seat.told


@pytest.mark.parametrize(
    "opener", [b"\x1b]11;", b"\x1bP>|", b"\x1b_G", b"\x1b^", b"\x1bX", b"\x1b["]
)
def test_what_has_no_end_is_cut_off_and_does_not_grow(opener: bytes) -> None:
    seat = GateSeat()
    for _ in range(300):
        assert names(seat.read(opener + b"1" * 4096 if _ == 0 else b"1" * 4096)) == []
    assert len(seat.gate._grammar.held) <= 2 * MOST_BODY_BYTES
    assert seat.told or opener == b"\x1b["
    assert names(seat.wait(4.0)) == []
    assert names(seat.read(b"k")) == ["k"]


def test_a_paste_without_an_end_is_cut_off_and_said() -> None:
    seat = GateSeat()
    found = seat.read(b"\x1b[200~")
    for _ in range(MOST_PASTE_BYTES // 65_536 + 3):
        found += seat.read(b"x" * 65_536)
    [paste] = found
    assert isinstance(paste, Paste) and len(paste.text) == MOST_PASTE_BYTES
    assert "1024 KiB" in seat.told[0]
    assert names(seat.read(b"more\x1b[201~k")) == ["k"]


def test_what_is_not_known_is_logged_once_and_secrets_are_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seat = GateSeat()
    with caplog.at_level(logging.WARNING, "console.terminal_input"):
        for number in range(50):
            seat.read(b"\x1b[%d;1x" % (40 + number), b"\x1b^hunter2\x1b\\")
    assert len(caplog.records) == 2
    assert "hunter2" not in caplog.text


def test_an_error_in_what_one_sequence_means_costs_that_sequence_alone() -> None:
    seat = GateSeat()

    def breaks(kind: str, said: str) -> None:
        raise ValueError(said)

    seat.gate._hear = breaks
    assert names(seat.read(b"a\x1b[?62cb")) == ["a", "b"]
    [(error, raw)] = seat.failed
    assert str(error) == "62" and raw.startswith(b"\x1b[?62c")


def test_text_is_typed_as_it_is() -> None:
    found = GateSeat().read("aÄ漢👩‍💻".encode())
    assert "".join(one.character or "" for one in found if isinstance(one, Key)) == "aÄ漢👩‍💻"

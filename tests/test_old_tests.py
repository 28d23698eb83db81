"""A test moves or merges; none goes unsaid."""

from scripts import old_tests

_REMEDY = (
    "Say in tests/data/old_tests.tsv which test proves it now (old id, TAB, new id), "
    "or that it went and why (old id, TAB, -, TAB, reason)."
)


def test_every_test_of_before_the_move_is_found_or_its_end_is_explained() -> None:
    table = old_tests.new_ids(old_tests.before(), old_tests.today(), old_tests.by_hand())
    assert len(table) == 2528
    lost = [old for old, new in table.items() if not new]
    assert not lost, f"{lost} have no successor. {_REMEDY}"


def test_every_row_written_by_hand_is_of_an_old_test_and_says_why_it_went() -> None:
    old = set(old_tests.before())
    for one, (target, why) in old_tests.by_hand().items():
        assert one in old, f"{one} was no test before the move"
        assert target != old_tests.GONE or why, f"{one} went without a reason"


def test_a_name_that_two_tests_have_decides_nothing() -> None:
    new = {"tests/a/test_a.py::test_x", "tests/b/test_b.py::test_x", "tests/c.py::test_y"}
    old = ["tests/test_q.py::test_x", "tests/test_c.py::test_y", "tests/test_d.py::test_z"]
    assert old_tests.new_ids(old, new, {}) == {old[0]: "", old[1]: "tests/c.py::test_y", old[2]: ""}
    hand = {old[0]: ("tests/a/test_a.py::test_x", ""), old[2]: (old_tests.GONE, "nobody calls z")}
    assert old_tests.new_ids(["tests/test_b.py::test_x"], new, {}) == {
        "tests/test_b.py::test_x": "tests/b/test_b.py::test_x"
    }
    moved = {old[2]: ("tests/test_z.py::test_y", "")}
    assert old_tests.new_ids(old, new, moved)[old[2]] == "tests/c.py::test_y"
    assert list(old_tests.new_ids(old, new, hand).values()) == [
        "tests/a/test_a.py::test_x",
        "tests/c.py::test_y",
        old_tests.GONE,
    ]

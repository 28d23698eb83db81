"""A result is given again for the very same objects only."""

from dataclasses import dataclass

from agent.loop.by_identity import KEPT, by_identity


@dataclass(frozen=True)
class Page:
    name: str


class Reader:
    def __init__(self) -> None:
        self.read: list[str] = []
        self.of = by_identity(self._of)

    def _of(self, one: Page | list[Page], other: Page | None) -> str:
        said = f"{one} {other}"
        self.read.append(said)
        return said


def test_the_same_pair_is_read_once_and_an_equal_one_again() -> None:
    reader, one, other = Reader(), Page("one"), Page("other")
    assert reader.of(one, other) == reader.of(one, other)
    assert len(reader.read) == 1
    reader.of(other, one)
    reader.of(one, None)
    reader.of(Page("one"), other)
    assert len(reader.read) == 4


def test_what_can_be_changed_in_place_is_read_every_time() -> None:
    reader, pages = Reader(), [Page("one")]
    first = reader.of(pages, None)
    pages.append(Page("two"))
    assert reader.of(pages, None) != first


def test_the_oldest_is_forgotten_and_a_new_object_never_gets_its_result() -> None:
    reader = Reader()
    said = {reader.of(Page(str(number)), None) for number in range(4 * KEPT)}
    assert len(said) == len(reader.read) == 4 * KEPT

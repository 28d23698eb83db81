"""The cursor of a wall among phones that come, go and move, without a wall."""

from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Offset, Size

from widgets.wall.wall_layout import HEAD_ROWS, Tile
from widgets.wall.wall_places import WallPlaces

SERIALS = st.lists(st.sampled_from([f"p{n}" for n in range(30)]), unique=True, max_size=30)
SIZES = st.tuples(st.integers(1, 200), st.integers(1, 80)).map(lambda size: Size(*size))


def tile(serial: str) -> Tile:
    return Tile(serial, (), (), (), (), (9, 20))


def places_of(serials: list[str], size: Size) -> WallPlaces:
    places = WallPlaces()
    places.take([tile(one) for one in serials])
    places.arrange(size, pictures=True)
    return places


@given(SERIALS, SERIALS, SIZES, st.integers(0, 29))
def test_the_cursor_keeps_its_phone_while_that_is_there(
    before: list[str], after: list[str], size: Size, at: int
) -> None:
    places = places_of(before, size)
    places.put_cursor(at)
    on = places.cursor
    places.take([tile(one) for one in after])
    places.arrange(size, pictures=True)
    assert places.cursor == on if on in after else places.cursor in (*after, "")
    assert bool(places.cursor) == bool(after)
    if after:
        assert places.cursor in {one.serial for one in places.visible}


@given(SERIALS, SIZES, st.integers(0, 29))
def test_a_press_on_a_picture_is_for_its_phone(serials: list[str], size: Size, at: int) -> None:
    places = places_of(serials, size)
    places.put_cursor(at)
    places.scroll_to_cursor()
    for _, (one, box) in zip(range(4), places.boxes().values(), strict=False):
        found = places.tile_at(Offset(box.x, box.y))
        assert found is not None and places.tiles[found] == one
        assert box.y - HEAD_ROWS in places.text_rows(one.serial)


@given(SERIALS, SIZES, st.integers(0, 29), st.sampled_from([(1, 0), (-1, 0), (0, 1), (0, -1)]))
def test_a_move_leads_to_a_phone_or_nowhere(
    serials: list[str], size: Size, at: int, by: tuple[int, int]
) -> None:
    places = places_of(serials, size)
    places.put_cursor(at)
    to = places.beside(*by)
    assert to is None or 0 <= to < len(serials)
    if to is not None and by == (0, 1) and serials:
        assert to > places.at


GROUPED = st.lists(st.integers(1, 9), min_size=1, max_size=6)


@given(GROUPED, SIZES, st.booleans())
def test_each_group_begins_a_row_and_every_phone_has_one_place(
    counts: list[int], size: Size, pictures: bool
) -> None:
    places = WallPlaces()
    tiles = [
        tile(f"h{group}/p{n}")._replace(group=f"h{group}")
        for group, count in enumerate(counts)
        for n in range(count)
    ]
    places.take(tiles)
    places.arrange(size, pictures=pictures)
    found: list[str] = []
    across = places.layout.across
    while True:
        slots = places.visible_slots[:across]
        assert slots[0] is not None
        assert len({one.group for one in slots if one is not None}) == 1
        assert places.begins_group(0) == (slots[0].serial.endswith("/p0"))
        found += [one.serial for one in slots if one is not None]
        if places.first + across > places.last:
            break
        places.top_row += 1
    assert found == [one.serial for one in tiles]

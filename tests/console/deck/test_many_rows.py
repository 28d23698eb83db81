"""A fleet on the Deck: what is drawn and written anew is what changed, not all that is listed."""

from collections import Counter
from functools import partial

import pytest

from tests.console.conftest import Open
from tests.console.fleet_scene import move, play_fleet
from widgets.lists import session_list

fleet = partial(play_fleet, hosts=3, phones=4, live=60, settled=20)


async def test_a_key_writes_no_row_of_the_list_anew(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(play=fleet) as seat:
        written: Counter[str] = Counter()
        write = session_list._row

        def counted(entry: session_list.Listed, *more: object) -> object:
            assert entry.view is not None
            written[entry.view.session.session_id] += 1
            return write(entry, *more)  # type: ignore[arg-type]

        # Ages of the same second look the same.
        now_ms = seat.core.now_ms
        monkeypatch.setattr(seat.app, "now_ms", lambda: now_ms)
        await seat.press("j")
        monkeypatch.setattr(session_list, "_row", counted)
        before = seat.deck.selected
        await seat.press("j", "j", "k")
        assert seat.deck.selected != before
        assert not written
        move(seat.core, 7)
        await seat.until(lambda: seat.app.bridge.state.event_id == len(seat.core.stored), "fold")
        seat.app.refresh_top()
        assert dict(written) == {"s00007": 1}

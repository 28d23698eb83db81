"""How served phones end: whole, with their state on the disk, however often they are told to."""

import asyncio
from pathlib import Path

import pytest

from virtual_phone.phone import Phone
from virtual_phone.server.serve import serve_forever
from virtual_phone.state import persistence


@pytest.mark.parametrize("turns_between", range(6))
async def test_phones_told_twice_to_end_still_save_what_was_done_on_them(
    tmp_path: Path, turns_between: int
) -> None:
    ready: asyncio.Future[tuple[str, Phone]] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(
        serve_forever(tmp_path, 1, 0, lambda serial, phone: ready.set_result((serial, phone)))
    )
    async with asyncio.timeout(60):
        serial, phone = await ready
        # With a connection to cut, the end takes several turns of the loop.
        _reader, writer = await asyncio.open_connection(*serial.split(":"))
        phone.settings.put("global", "bluetooth_on", "7")
        serving.cancel()
        for _ in range(turns_between):
            await asyncio.sleep(0)
        serving.cancel()
        await asyncio.wait({serving})
    writer.close()
    assert b'"bluetooth_on":"7"' in (persistence.read_state(tmp_path / phone.name) or b"")

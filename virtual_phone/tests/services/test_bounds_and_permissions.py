"""What a command may take, what a revoked permission does, and the alarms that a phone keeps."""

import time

from support.connected import Connected
from virtual_phone.apps.clock import Alarm, Clocks

MESSAGES = "com.android.messaging"


async def test_a_pattern_that_would_never_end_ends(connected: Connected) -> None:
    began = time.monotonic()
    for command in ("grep -E '(a+)+$'", "sed -E 's/(a+)+$/x/'"):
        said = await connected.shell(f"{command}; echo over", stdin=b"a" * 40 + b"b\n")
        assert said.text.endswith("over\n")
    assert time.monotonic() - began < 60
    said = await connected.shell("sed -E 's/(b+)(c)/\\2&/g'", stdin=b"abbcbc\n")
    assert said.text == "acbbccbc\n"


async def test_an_app_that_loses_a_permission_is_ended(connected: Connected) -> None:
    connected.phone.activities.launch(MESSAGES)
    before = (await connected.shell(f"pidof {MESSAGES}")).text
    assert before.strip()
    permission = "android.permission.READ_CONTACTS"
    await connected.shell(f"pm grant {MESSAGES} {permission}")
    await connected.shell(f"pm revoke {MESSAGES} {permission}")
    # What is in front comes back at once, in a process of its own.
    after = (await connected.shell(f"pidof {MESSAGES}")).text
    assert after.strip()
    assert after != before


async def test_alarms_that_are_on_are_pending(connected: Connected) -> None:
    assert "0 pending alarms" in (await connected.shell("dumpsys alarm")).text
    clocks = connected.phone.app_data.of_package("com.android.deskclock")
    assert isinstance(clocks, Clocks)
    clocks.alarms.append(Alarm(9, 6, 45))
    said = (await connected.shell("dumpsys alarm")).text
    assert "1 pending alarms" in said
    assert "06:45:00.000" in said

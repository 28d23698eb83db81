"""The on-device service of the library uiautomator2, built into the phone.

The library pushes a jar, starts its class with `app_process` and speaks JSON-RPC over HTTP to a TCP
port of the phone; this package answers as that class does. Loaded when it is first started.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from virtual_phone.shell.call import Call

CLASS = "com.wetest.uia2.Main"


async def app_process(call: "Call", arguments: list[str]) -> int:
    """Run the service until the shell that started it goes or `/stop` is asked for."""
    from virtual_phone.uiautomator import server

    return await server.run(call, arguments)

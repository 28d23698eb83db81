"""Begin a turn with the presses that are known to navigate, and learn from what its presses did."""

import logging
from collections.abc import Iterable, Mapping

from agent.devices.facts.fact import Known
from agent.devices.protocols import Device
from agent.devices.shell.versions import TellsVersions
from agent.errors import DeviceError
from agent.knowledge.navigation_map import NavigationMap
from agent.loop.acting.navigation_seen import navigated
from agent.protocol import Event
from agent.safety.navigation.known_presses import KnownPresses

_log = logging.getLogger(__name__)
_TIMEOUT_S = 5.0


async def known_presses(known: NavigationMap, device: Device | None) -> KnownPresses:
    """Return what is known of the apps of a turn's phone; nothing where it does not tell their
    versions.
    """
    versions = await _versions(device)
    return await known.known(versions) if versions else KnownPresses()


async def learn(known: NavigationMap, presses: KnownPresses, events: Iterable[Event]) -> None:
    """Learn from the events of a turn; without versions there is nothing to learn."""
    if presses.versions:
        await known.learn(navigated(events, presses.versions))


async def _versions(device: object) -> Mapping[str, int]:
    if not isinstance(device, TellsVersions):
        return {}
    try:
        told = await device.versions(timeout_s=_TIMEOUT_S)
    except DeviceError as error:
        _log.info("All presses are read: the versions of the apps are not known: %s", error)
        return {}
    return told.packages.value if isinstance(told.packages, Known) else {}

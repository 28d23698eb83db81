"""The lease on a phone, kept on the phone itself: one driver, whichever process or host it is in.

Not the queue of one core (`agent.devices.fleet.fleet`), and not the store's leases, which fence
what is written: two data directories, or two hosts with one phone, share nothing but the phone.
Invariants: who reads it is told who drives; it ends by itself on the phone's own clock, also after
a kill or a reboot; only its owner gives it back. A phone whose shell cannot keep it is driven
without, as the lease of one core is all there can be then.

The file holds `epoch owner-digest expiry-in-seconds-of-uptime owner`. It is changed under a
directory as a lock, because `mkdir` is the one thing that succeeds once on every Android.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from agent.devices.adb.client import AdbClient
from agent.text import one_line

PATH = "/data/local/tmp/.switchboard-lease"
TTL_S = 20
RENEW_EVERY_S = 5.0
_TIMEOUT_S = 5.0
_OWNER_LIMIT_CHARS = 120
_SAFE = re.compile(r"[^\w.@:+-]+")
_SAID = re.compile(
    r"^lease (?P<what>had|held|none) (?P<epoch>\d+) (?P<left>\d+) (?P<owner>\S*)$", re.M
)

# Reads the lease into e(poch) k(ey) x(expiry) o(wner), with the phone's uptime in n(ow). One whose
# end is further away than any lease lasts was written before a reboot.
_SCRIPT = """\
f={path}; i=0
until mkdir $f.lock 2>/dev/null; do
i=$((i+1)); [ $i -gt 20 ] && rmdir $f.lock 2>/dev/null; [ $i -gt 40 ] && exit 9; sleep 0.05
done
read n r < /proc/uptime; n=${{n%%.*}}
e=0; k=-; x=0; o=-
[ -f $f ] && read e k x o < $f
case "$e$x" in *[!0-9]*|'') e=0; k=-; x=0;; esac
[ $x -gt $((n+{ttl})) ] && x=0
{change}
rmdir $f.lock
"""
_TAKE = """\
if [ $x -le $n ] || [ "$k" = {key} ]; then
[ "$k" = {key} ] || e=$((e+1))
x=$((n+{ttl})); echo "$e {key} $x {owner}" > $f && echo "lease had $e $((x-n)) {owner}"
else echo "lease held $e $((x-n)) $o"; fi"""
_GIVE = """\
[ "$k" = {key} ] && echo "$e - 0 -" > $f
echo "lease none $e 0 -\""""
_LOOK = """\
if [ $x -gt $n ]; then echo "lease held $e $((x-n)) $o"; else echo "lease none $e 0 -"; fi"""


class LeaseResult(StrEnum):
    """What became of a try for the lease."""

    OURS = "ours"
    THEIRS = "theirs"
    FREE = "free"
    NOT_KEPT = "not kept"  # The phone's shell cannot keep one.


@dataclass(frozen=True, slots=True)
class Marked:
    """The lease on a phone as it is."""

    standing: LeaseResult
    owner: str = ""
    epoch: int = 0
    left_s: int = 0


class DeviceLeaseFile:
    """Take, renew and give back the lease on one phone.

    Args:
        client: the server that reaches it.
        serial: its name there.
        owner: who drives, for people: host, process, session.
        key: what tells this owner from every other.
    """

    def __init__(self, client: AdbClient, serial: str, *, owner: str, key: str) -> None:
        self._client = client
        self._serial = serial
        self._owner = _SAFE.sub("_", owner)[:_OWNER_LIMIT_CHARS] or "-"
        self._key = _SAFE.sub("_", key)

    async def take(self) -> Marked:
        """Take or renew the lease, if nobody else has it. Raises DeviceError as a shell does."""
        return await self._change(_TAKE.format(key=self._key, owner=self._owner, ttl=TTL_S))

    async def give_back(self) -> None:
        """Give the lease back, if it is ours. Raises DeviceError as a shell does."""
        await self._change(_GIVE.format(key=self._key))

    async def look(self) -> Marked:
        """Return who has the lease. Raises DeviceError as a shell does."""
        return await self._change(_LOOK)

    async def _change(self, change: str) -> Marked:
        script = _SCRIPT.format(path=PATH, ttl=TTL_S, change=change)
        features = await self._client.features(self._serial, timeout_s=_TIMEOUT_S)
        result = await self._client.shell(
            self._serial, script, features=features, timeout_s=_TIMEOUT_S, limit=1 << 16
        )
        said = _SAID.search(result.stdout.decode("utf-8", "replace").replace("\r", ""))
        if said is None:
            return Marked(LeaseResult.NOT_KEPT)
        standing = {"had": LeaseResult.OURS, "held": LeaseResult.THEIRS, "none": LeaseResult.FREE}
        return Marked(
            standing[said["what"]],
            owner=one_line(said["owner"], _OWNER_LIMIT_CHARS),
            epoch=int(said["epoch"]),
            left_s=int(said["left"]),
        )

"""`pm install`: from a file of the phone, from stdin, or in a session of several writes."""

import asyncio
import hashlib

from virtual_phone.commands.options import whole_number
from virtual_phone.numbers import is_number
from virtual_phone.packages.apk import BadApkError, Manifest, read_manifest
from virtual_phone.packages.installed import PackageInfo
from virtual_phone.server.pipes import Source
from virtual_phone.shell.call import Call, CommandError

MAX_APK_BYTES = 512 * 1024 * 1024
FIRST_UID = 10200
MAX_SESSIONS = 16
_VALUED = frozenset(
    {
        *("-i", "-p", "-S", "--abi", "--user", "--install-location", "--install-reason"),
        *("--force-uuid", "--multi-package", "--originating-uri", "--referrer"),
    }
)


class InstallSessions:
    """What `install-create` began and `install-commit` has not ended, on one phone."""

    def __init__(self) -> None:
        self._parts: dict[int, list[bytes]] = {}
        self._next = 1_000_001

    def create(self) -> int:
        """Begin a session; return its number."""
        if len(self._parts) >= MAX_SESSIONS:
            raise CommandError("Error: too many install sessions", 1)
        self._next += 1
        self._parts[self._next] = []
        return self._next

    def get(self, text: str) -> list[bytes]:
        """Return the parts of a session; raise CommandError for an unknown one."""
        number = int(text) if is_number(text) else -1
        if number not in self._parts:
            raise CommandError(
                f"Error: java.lang.SecurityException: Caller has no access to session {text}", 1
            )
        return self._parts[number]

    def end(self, text: str) -> list[bytes]:
        """End a session; return its parts."""
        parts = self.get(text)
        del self._parts[int(text)]
        return parts


async def install(call: Call, verb: str, words: list[str]) -> int:
    """Run `install`, `install-create`, `-write`, `-commit` and `-abandon`."""
    values, operands = _split(words)
    sessions = call.userland.install_sessions
    match verb:
        case "install-create":
            await call.line(f"Success: created install session [{sessions.create()}]")
            return 0
        case "install-write":
            if len(operands) < 2:
                raise CommandError("Error: must specify a session and a name", 1)
            parts = sessions.get(operands[0])
            data = await _apk(call, values, operands[2] if len(operands) > 2 else "-")
            parts.append(data)
            await call.line(f"Success: streamed {len(data)} bytes")
            return 0
        case "install-abandon":
            sessions.end(operands[0] if operands else "")
            await call.line("Success")
            return 0
        case "install-commit":
            parts = sessions.end(operands[0] if operands else "")
        case _:
            parts = [await _apk(call, values, operands[0] if operands else "-")]
    try:
        manifests = [await asyncio.to_thread(read_manifest, part) for part in parts]
    except BadApkError as error:
        raise CommandError(f"Failure [INSTALL_PARSE_FAILED_NOT_APK: {error.message}]", 1) from error
    if not manifests:
        raise CommandError("Failure [INSTALL_FAILED_INVALID_APK: nothing was written]", 1)
    _add(call, manifests[0], downgrade="-d" in values)
    await call.line("Success")
    return 0


def _split(words: list[str]) -> tuple[dict[str, str], list[str]]:
    values: dict[str, str] = {}
    operands: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in _VALUED and rest:
            values[word] = rest.pop(0)
        elif word.startswith("-") and word != "-":
            values[word] = ""
        else:
            operands.append(word)
    return values, operands


async def _apk(call: Call, values: dict[str, str], path: str) -> bytes:
    """Return the bytes of an APK: from a file, or as many as -S says from stdin."""
    if path != "-":
        try:
            return await _take(call.open_source(path), MAX_APK_BYTES, whole=False)
        except OSError as error:
            raise CommandError(
                f"Error: failed to open file: {path}\nError: Unable to open file: {path}\n"
                "Consider using a file under /data/local/tmp/",
                255,
            ) from error
    if "-S" not in values:
        raise CommandError("Error: must either specify a package size or an APK file", 1)
    size = whole_number(call, values["-S"])
    if not 0 < size <= MAX_APK_BYTES:
        raise CommandError("Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]", 1)
    return await _take(call.stdin, size, whole=True)


async def _take(source: Source, limit: int, *, whole: bool) -> bytes:
    data = bytearray()
    while len(data) < limit and (chunk := await source.read(min(limit - len(data), 1024 * 1024))):
        data += chunk
    if whole and len(data) < limit:
        raise CommandError("Failure [INSTALL_FAILED_INVALID_APK: the stream ended early]", 1)
    return bytes(data)


def _add(call: Call, manifest: Manifest, *, downgrade: bool) -> None:
    """Put the package into the phone's table."""
    packages = call.phone.packages
    known = packages.get(manifest.package)
    if known is not None and known.system:
        raise CommandError(
            "Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: Existing package "
            f"{manifest.package} signatures do not match newer version; ignoring!]",
            1,
        )
    if known is not None and known.version_code > manifest.version_code and not downgrade:
        raise CommandError(
            "Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code "
            f"{manifest.version_code} is older than current {known.version_code}]",
            1,
        )
    mark = hashlib.sha256(manifest.package.encode()).hexdigest()[:22]
    used = {info.uid for info in packages.list()}
    uid = known.uid if known else next(n for n in range(FIRST_UID, 20_000) if n not in used)
    packages.install(
        PackageInfo(
            package=manifest.package,
            label=manifest.label,
            version_name=manifest.version_name,
            version_code=manifest.version_code,
            system=False,
            path=f"/data/app/~~{mark}==/{manifest.package}-{mark[::-1]}==/base.apk",
            launcher_activity=manifest.launcher_activity,
            activities=manifest.activities,
            permissions=manifest.permissions,
            uid=uid,
        )
    )
    call.phone.invalidate()
    call.userland.note("I", "PackageManager", f"installed {manifest.package}")

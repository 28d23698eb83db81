"""Read what an APK says of itself: its manifest.

Not an installer and not a runtime: the code in an APK never runs here. Invariant: hostile archives
cost a bounded amount of memory, and whatever is wrong with one is a PhoneError.
"""

import io
import logging
import lzma
import struct
import zipfile
import zlib
from dataclasses import dataclass
from xml.etree import ElementTree

from virtual_phone.errors import PhoneError
from virtual_phone.well_formed import well_formed

MANIFEST = "AndroidManifest.xml"
MAX_MANIFEST_BYTES = 8 * 1024 * 1024
_DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, KeyError),
    *(NotImplementedError, OSError, OverflowError, RuntimeError, ValueError),
)
"""What zipfile raises on a damaged archive."""

_ANDROID = "{http://schemas.android.com/apk/res/android}"
_MAIN = "android.intent.action.MAIN"
_LAUNCHER = "android.intent.category.LAUNCHER"


class BadApkError(PhoneError):
    """The file is not an APK that can be installed."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest declares; activities by their full class names."""

    package: str
    version_name: str
    version_code: int
    label: str
    activities: tuple[str, ...]
    launcher_activity: str | None
    permissions: tuple[str, ...]


def read_manifest(apk: bytes) -> Manifest:
    """Read the manifest of an APK.

    Raises:
        BadApkError: it is no archive, has no manifest, or the manifest names no package.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(apk)) as archive:
            info = archive.getinfo(MANIFEST)
            if info.file_size > MAX_MANIFEST_BYTES:
                raise BadApkError("the manifest is too large")
            with archive.open(info) as file:
                raw = file.read(MAX_MANIFEST_BYTES + 1)
    except _DAMAGES as error:
        raise BadApkError("Failed to parse base.apk: not an archive with a manifest") from error
    if len(raw) > MAX_MANIFEST_BYTES:
        raise BadApkError("the manifest is too large")
    return _interpret(_decode(raw))


def _decode(raw: bytes) -> ElementTree.Element:
    """Return the manifest's root element; binary XML is what a real APK holds."""
    # Importing the library sets up logging for the whole process; that is not its to decide.
    root = logging.getLogger()
    kept = root.level, list(root.handlers)
    from apkInspector.axml import get_manifest  # type: ignore[import-untyped]

    root.level, root.handlers[:] = kept
    try:
        return ElementTree.fromstring(get_manifest(io.BytesIO(raw)))
    except Exception as error:  # the library raises whatever a damaged file makes it raise
        raise BadApkError(f"Failed to parse base.apk: corrupt XML ({error})") from error


def _interpret(root: ElementTree.Element) -> Manifest:
    package = root.get("package", "")
    if root.tag != "manifest" or not _is_package(package):
        raise BadApkError(f"Failed to parse base.apk: bad package name {package[:80]!r}")
    code = root.get(f"{_ANDROID}versionCode", "1")
    application = root.find("application")
    label = "" if application is None else well_formed(application.get(f"{_ANDROID}label", ""))
    activities: list[str] = []
    launcher: str | None = None
    found = [] if application is None else [*application]
    for element in found:
        if element.tag not in ("activity", "activity-alias"):
            continue
        name = element.get(f"{_ANDROID}name", "")
        name = package + name if name.startswith(".") else name
        name = name if "." in name else f"{package}.{name}"
        activities.append(name)
        if launcher is None and any(_launches(one) for one in element.findall("intent-filter")):
            launcher = name
    return Manifest(
        package=package,
        version_name=well_formed(root.get(f"{_ANDROID}versionName", "")),
        version_code=int(code) if code.isascii() and code.isdigit() and len(code) < 19 else 1,
        label=label if label and not label.startswith("@") else package.rpartition(".")[2],
        activities=tuple(activities),
        launcher_activity=launcher,
        permissions=tuple(
            name
            for element in root.findall("uses-permission")
            if (name := element.get(f"{_ANDROID}name"))
        ),
    )


def _is_package(name: str) -> bool:
    parts = name.split(".")
    return len(parts) > 1 and all(part.isascii() and part.isidentifier() for part in parts)


def _launches(intent_filter: ElementTree.Element) -> bool:
    names = {element.get(f"{_ANDROID}name") for element in intent_filter}
    return {_MAIN, _LAUNCHER} <= names

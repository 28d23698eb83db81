"""Write the APK that `pm path` names: a package's manifest, in Android's binary XML, in a zip.

There is no code and no picture in it; `virtual_phone.packages.apk` reads what is written here.
Format: ResourceTypes.h of AOSP (ResStringPool, ResXMLTree). Invariant: the same facts make the same
bytes.
"""

import io
import struct
import zipfile
from dataclasses import dataclass, field
from functools import lru_cache

from virtual_phone.packages.apk import MANIFEST
from virtual_phone.packages.signing import certificate_of, signed

SDK = 34
_ANDROID = "http://schemas.android.com/apk/res/android"
_NONE = 0xFFFFFFFF
_ATTRIBUTES = {
    "label": 0x01010001,
    "name": 0x01010003,
    "minSdkVersion": 0x0101020C,
    "versionCode": 0x0101021B,
    "versionName": 0x0101021C,
    "targetSdkVersion": 0x01010270,
}
"""Resource ids of `android:` attributes, from public.xml; the string pool begins with them."""
_STRING_POOL, _XML, _RESOURCE_MAP = 0x0001, 0x0003, 0x0180
_NAMESPACE_START, _NAMESPACE_END, _ELEMENT_START, _ELEMENT_END = 0x0100, 0x0101, 0x0102, 0x0103
_TEXT, _NUMBER = 0x03, 0x10
_ANY_DATE = (2009, 1, 1, 0, 0, 0)  # What Android's build stamps on every entry.


@dataclass(frozen=True, slots=True)
class Element:
    """An element: its name, its attributes in the order of their resource ids, its children."""

    name: str
    attributes: dict[str, str | int] = field(default_factory=dict)
    children: "tuple[Element, ...]" = ()


@lru_cache(maxsize=64)
def make_apk(
    package: str,
    version_name: str,
    version_code: int,
    label: str,
    activities: tuple[str, ...],
    launcher_activity: str | None,
    permissions: tuple[str, ...],
    signer: str,
) -> bytes:
    """Return an APK whose manifest says these things; activities by their full class names.

    Args:
        signer: the name of the key that it is signed with.
    """
    out = io.BytesIO()
    names = dict.fromkeys([*filter(None, [launcher_activity]), *activities])
    manifest = Element(
        "manifest",
        {"versionCode": version_code, "versionName": version_name, "package": package},
        (
            Element("uses-sdk", {"minSdkVersion": SDK, "targetSdkVersion": SDK}),
            *(Element("uses-permission", {"name": name}) for name in permissions),
            Element(
                "application",
                {"label": label},
                tuple(_activity(name, launches=name == launcher_activity) for name in names),
            ),
        ),
    )
    with zipfile.ZipFile(out, "w") as archive:
        entry = zipfile.ZipInfo(MANIFEST, _ANY_DATE)
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, binary_xml(manifest))
    return signed(out.getvalue(), certificate_of(signer))


def _activity(name: str, *, launches: bool) -> Element:
    main = Element(
        "intent-filter",
        {},
        (
            Element("action", {"name": "android.intent.action.MAIN"}),
            Element("category", {"name": "android.intent.category.LAUNCHER"}),
        ),
    )
    return Element("activity", {"name": name}, (main,) if launches else ())


def binary_xml(root: Element) -> bytes:
    """Return an element and all below it as Android's binary XML."""
    pool = _Pool()
    names = pool.index("android"), pool.index(_ANDROID)
    body = _node(_NAMESPACE_START, *names) + _element(root, pool) + _node(_NAMESPACE_END, *names)
    ids = struct.pack(f"<{len(_ATTRIBUTES)}I", *_ATTRIBUTES.values())
    chunks = pool.chunk() + _chunk(_RESOURCE_MAP, b"", ids) + body
    return _chunk(_XML, b"", chunks)


class _Pool:
    """The strings of a document, each once."""

    def __init__(self) -> None:
        self._places = {name: place for place, name in enumerate(_ATTRIBUTES)}

    def index(self, text: str) -> int:
        return self._places.setdefault(text, len(self._places))

    def chunk(self) -> bytes:
        strings, offsets = b"", b""
        for text in self._places:
            offsets += struct.pack("<I", len(strings))
            raw = text.encode("utf-16-le", "replace")
            strings += struct.pack("<H", len(raw) // 2) + raw + b"\0\0"
        strings += bytes(-len(strings) % 4)
        # The header's own 8 bytes and the five numbers come before the offsets.
        head = struct.pack("<5I", len(self._places), 0, 0, 28 + len(offsets), 0)
        return _chunk(_STRING_POOL, head, offsets + strings)


def _chunk(kind: int, head: bytes, body: bytes) -> bytes:
    return struct.pack("<HHI", kind, 8 + len(head), 8 + len(head) + len(body)) + head + body


def _node(kind: int, *numbers: int, body: bytes = b"") -> bytes:
    """Return a chunk of the tree: line, no comment, then what it says."""
    said = struct.pack(f"<{len(numbers)}I", *numbers) + body
    return _chunk(kind, struct.pack("<II", 1, _NONE), said)


def _element(element: Element, pool: _Pool) -> bytes:
    attributes = b"".join(_attribute(*pair, pool) for pair in element.attributes.items())
    shape = struct.pack("<6H", 20, 20, len(element.attributes), 0, 0, 0)
    name = pool.index(element.name)
    return (
        _node(_ELEMENT_START, _NONE, name, body=shape + attributes)
        + b"".join(_element(child, pool) for child in element.children)
        + _node(_ELEMENT_END, _NONE, name)
    )


def _attribute(name: str, value: str | int, pool: _Pool) -> bytes:
    space = pool.index(_ANDROID) if name in _ATTRIBUTES else _NONE
    if isinstance(value, str):
        raw = pool.index(value)
        kind, data = _TEXT, raw
    else:
        raw, kind, data = _NONE, _NUMBER, value & 0xFFFFFFFF
    return struct.pack("<IIIHBBI", space, pool.index(name), raw, 8, 0, kind, data)

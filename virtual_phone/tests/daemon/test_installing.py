"""Installing APKs: what the stock adb binary sends, and what is no APK."""

import io
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.connected import Connected
from virtual_phone.packages.apk import BadApkError, read_manifest

NAMESPACE = "http://schemas.android.com/apk/res/android"
Element = tuple[str, dict[str, str | int], list["Element"]]  # type: ignore[misc]


def binary_xml(root: Element) -> bytes:
    """Encode elements as Android's binary XML, UTF-16 pool, an empty resource map."""
    pool: list[str] = []

    def index(text: str) -> int:
        if text not in pool:
            pool.append(text)
        return pool.index(text)

    def start(name: str, attributes: dict[str, str | int]) -> bytes:
        body = b""
        for key, value in attributes.items():
            space = index(NAMESPACE) if key != "package" else 0xFFFFFFFF
            raw = index(value) if isinstance(value, str) else 0xFFFFFFFF
            kind, data = (3, raw) if isinstance(value, str) else (0x10, value)
            body += struct.pack("<IIIHBBI", space, index(key), raw, 8, 0, kind, data)
        extension = struct.pack(
            "<IIHHHHHH", 0xFFFFFFFF, index(name), 20, 20, len(attributes), 0, 0, 0
        )
        size = 16 + len(extension) + len(body)
        return struct.pack("<HHIII", 0x0102, 16, size, 1, 0xFFFFFFFF) + extension + body

    def walk(element: Element) -> bytes:
        name, attributes, children = element
        inner = b"".join(walk(child) for child in children)
        end = struct.pack("<HHIIIII", 0x0103, 16, 24, 1, 0xFFFFFFFF, 0xFFFFFFFF, index(name))
        return start(name, attributes) + inner + end

    prefix, uri = index("android"), index(NAMESPACE)
    tree = walk(root)
    names = [
        struct.pack("<HHIIIII", code, 16, 24, 1, 0xFFFFFFFF, prefix, uri) for code in (256, 257)
    ]
    strings, offsets = b"", b""
    for text in pool:
        offsets += struct.pack("<I", len(strings))
        strings += struct.pack("<H", len(text)) + text.encode("utf-16-le") + b"\0\0"
    strings += bytes(-len(strings) % 4)
    head = 28 + len(offsets)
    sizes = struct.pack("<HHIIIIII", 1, 28, head + len(strings), len(pool), 0, 0, head, 0)
    resources = struct.pack("<HHI", 0x0180, 8, 8)
    chunks = sizes + offsets + strings + resources + names[0] + tree + names[1]
    return struct.pack("<HHI", 3, 8, 8 + len(chunks)) + chunks


def apk_of(package: str, code: int = 1) -> bytes:
    """Make an APK that declares one launcher activity."""
    launch: Element = (
        "intent-filter",
        {},
        [
            ("action", {"name": "android.intent.action.MAIN"}, []),
            ("category", {"name": "android.intent.category.LAUNCHER"}, []),
        ],
    )
    manifest: Element = (
        "manifest",
        {"versionCode": code, "versionName": f"{code}.0", "package": package},
        [
            ("uses-permission", {"name": "android.permission.INTERNET"}, []),
            ("application", {"label": "Probe"}, [("activity", {"name": ".Main"}, [launch])]),
        ],
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("AndroidManifest.xml", binary_xml(manifest))
        archive.writestr("classes.dex", b"dex\n")
    return out.getvalue()


def test_a_manifest_is_read_from_its_binary_form() -> None:
    found = read_manifest(apk_of("org.probe.app", 7))
    assert (found.package, found.version_code, found.version_name) == ("org.probe.app", 7, "7.0")
    assert (found.label, found.launcher_activity) == ("Probe", "org.probe.app.Main")
    assert found.permissions == ("android.permission.INTERNET",)


@given(st.binary(max_size=300), st.integers(0, 600))
def test_what_is_no_apk_is_refused(junk: bytes, at: int) -> None:
    whole = apk_of("org.probe.app")
    for data in (junk, whole[:at], whole[:at] + junk + whole[at + len(junk) :]):
        try:
            assert read_manifest(data).package
        except BadApkError as error:
            assert error.message


@pytest.mark.parametrize("how", [[], ["--no-streaming"]])
async def test_adb_installs_starts_and_uninstalls(
    connected: Connected, tmp_path: Path, how: list[str]
) -> None:
    file = tmp_path / "probe.apk"
    file.write_bytes(apk_of("org.probe.app", 3))
    said = await connected("install", *how, str(file))
    assert said.status == 0 and b"Success" in said.out
    assert "package:org.probe.app" in (await connected.shell("pm list packages -3")).text
    assert (await connected.shell("monkey -p org.probe.app 1")).status == 0
    assert connected.phone.windows.focused_app == "org.probe.app/.Main"
    file.write_bytes(apk_of("org.probe.app", 2))
    older = await connected("install", *how, str(file))
    assert older.status == 1
    assert b"INSTALL_FAILED_VERSION_DOWNGRADE" in older.out + older.err
    assert b"Success" in (await connected("uninstall", "org.probe.app")).out
    gone = await connected("uninstall", "org.probe.app")
    assert gone.status == 1


async def test_a_file_that_is_no_apk_is_refused_as_on_a_phone(
    connected: Connected, tmp_path: Path
) -> None:
    file = tmp_path / "bad.apk"
    file.write_bytes(b"not an apk" * 1000)
    said = await connected("install", str(file))
    assert said.status == 1
    assert b"INSTALL_PARSE_FAILED_NOT_APK" in said.out + said.err


def test_reading_a_manifest_leaves_the_logging_of_the_process_as_it_was() -> None:
    code = (
        "import logging; from virtual_phone.packages.apk import BadApkError, _decode\n"
        "try: _decode(b'not a manifest')\n"
        "except BadApkError: pass\n"
        "print(logging.getLogger().level, logging.getLogger().handlers)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "30 []\n"


async def test_the_apk_of_every_package_can_be_pulled(connected: Connected, tmp_path: Path) -> None:
    file = tmp_path / "probe.apk"
    file.write_bytes(apk_of("org.probe.app", 3))
    await connected("install", str(file))
    listed = (await connected.shell("pm list packages -f")).text.splitlines()
    paths = dict(line.removeprefix("package:").rpartition("=")[::2][::-1] for line in listed)
    assert {"org.probe.app", "com.android.settings"} <= set(paths)
    for package, path in paths.items():
        pulled = await connected("exec-out", f"cat {path}")
        found = read_manifest(pulled.out)
        info = connected.phone.packages.get(package)
        assert info is not None
        assert (found.package, found.version_code, found.permissions) == (
            package,
            info.version_code,
            info.permissions,
        )
        assert found.launcher_activity == info.launcher_activity
    size = (await connected.shell(f"stat -c %s {paths['org.probe.app']}")).text
    assert int(size) == len((await connected("exec-out", f"cat {paths['org.probe.app']}")).out)
    assert "Settings" in (await connected.shell("ls /system/app")).text.split()
    await connected("uninstall", "org.probe.app")
    gone = (await connected.shell(f"ls {paths['org.probe.app']}")).status
    assert gone == 1
    assert (await connected.shell("ls /system/app/Nothing")).status == 1

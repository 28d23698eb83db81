"""`tar`, `gzip`, `xxd`, `od` and `run-as`: what other programs write is read, and the other way."""

from __future__ import annotations

import asyncio
import gzip
import io
import random
import tarfile
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.connected import Connected
from support.fuzz import mutated
from virtual_phone.phone import Phone
from virtual_phone.server.pipes import BytesSource, CollectingSink
from virtual_phone.shell.interpreter import Shell
from virtual_phone.userland.userland import Userland

Said = tuple[int, bytes, str]
Run = Callable[..., Awaitable[Said]]
TMP = "/data/local/tmp"


@pytest.fixture
async def userland(tmp_path: Path) -> AsyncIterator[Userland]:
    phone = Phone(tmp_path, name="shell")
    yield Userland(phone, tmp_path, "shell")
    phone.close()


async def run_on(userland: Userland, line: str, stdin: bytes = b"") -> Said:
    out, err = CollectingSink(), CollectingSink()
    shell = Shell(userland)
    shell.cwd = TMP
    async with asyncio.timeout(60):
        status = await shell.run_text(line, {0: BytesSource(stdin), 1: out, 2: err})
    return status, bytes(out.data), err.data.decode("utf-8", "replace")


@pytest.fixture
def run(userland: Userland) -> Run:
    async def run(line: str, stdin: bytes = b"") -> Said:
        return await run_on(userland, line, stdin)

    return run


def archive(form: int, *members: tuple[str, bytes], **changes: object) -> bytes:
    """Make an archive as Python does: names, content, and changes to each header."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(content), 1_700_000_000, 0o640
            for key, value in changes.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(content))
    return made.getvalue()


async def test_an_archive_of_the_phone_is_one_to_others(run: Run) -> None:
    long = "n" * 150
    await run(f"mkdir -p d/e; echo one >d/a; echo two >d/e/{long}; ln -s a d/l; ln d/a d/h")
    await run("chmod 640 d/a; touch -d 2024-01-02T03:04:05 d/a")
    for flags in ("c", "cz"):
        status, made, said = await run(f"tar -{flags}vf - d")
        assert (status, said) == (0, f"d/\nd/a\nd/e/\nd/e/{long}\nd/h\nd/l\n")
        with tarfile.open(fileobj=io.BytesIO(made)) as tar:
            kept = {one.name: one for one in tar}
            assert [*kept] == ["d", "d/a", "d/e", f"d/e/{long}", "d/h", "d/l"]
            assert kept["d/h"].islnk() and kept["d/h"].linkname == "d/a"
            assert kept["d/l"].issym() and kept["d/l"].linkname == "a"
            one = kept["d/a"]
            assert (one.mode, one.mtime, one.uid, one.uname) == (0o640, 1704164645, 2000, "shell")
            inner = tar.extractfile(f"d/e/{long}")
            assert inner is not None and inner.read() == b"two\n"


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("packed", [False, True])
async def test_archives_of_others_are_taken_out_on_the_phone(
    run: Run, form: int, packed: bool
) -> None:
    long = "/".join(["f" * 60, "g" * 60, "h" * 60])
    data = archive(form, ("a", b"first"), (long, b"x" * 2000), ("é/b", b""))
    data = gzip.compress(data) if packed else data
    assert await run("tar x -C /sdcard/Download", data) == (0, b"", "")
    status, out, said = await run(
        f"cd /sdcard/Download; cat a; wc -c < {long}; stat -c '%a %Y' a; ls -a é"
    )
    assert (status, said) == (0, "")
    assert out.decode() == "first2000\n640 1700000000\n.\n..\nb\n"
    listed = (await run("tar tv", data))[1].decode().splitlines()
    assert listed[0] == "-rw-r----- 0/0         5  2023-11-14 22:13 a"


async def test_entries_are_chosen_left_out_and_written_to_stdout(run: Run) -> None:
    data = archive(tarfile.GNU_FORMAT, ("d/a", b"A"), ("d/b", b"B"), ("e/c", b"C"))
    assert (await run("tar tf - d", data))[1] == b"d/a\nd/b\n"
    assert (await run("tar tf - '*/c' --exclude d", data))[1] == b"e/c\n"
    assert (await run("tar xOf - d/b e", data))[1] == b"BC"
    assert await run("tar tf - nope", data) == (1, b"", "tar: 'nope' not in archive\n")
    assert (await run("mkdir o; tar xf - --strip-components=1 -C o; ls o", data))[1] == b"a\nb\nc\n"


async def test_nothing_is_written_outside_of_where_an_archive_is_taken_out(run: Run) -> None:
    data = archive(tarfile.GNU_FORMAT, ("../up", b"x"), ("/sdcard/abs", b"x"), ("in", b"y"))
    status, _, said = await run("mkdir o; tar x -C o", data)
    assert status == 1
    assert said == (
        f"tar: '../up' {TMP}/up not under '{TMP}/o'\n"
        f"tar: '/sdcard/abs' /storage/emulated/0/abs not under '{TMP}/o'\n"
    )
    assert (await run("ls . o /sdcard/abs"))[1] == b".:\no\n\no:\nin\n"
    link = archive(tarfile.GNU_FORMAT, ("l", b""), type=tarfile.SYMTYPE, linkname="/sdcard")
    inside = archive(tarfile.GNU_FORMAT, ("l/evil", b"x"))
    assert (await run("tar x -C o", link))[0] == 0
    status, _, said = await run("tar x -C o", inside)
    assert status == 1 and "not under" in said
    assert (await run("ls /sdcard/evil"))[0] == 1


@pytest.mark.parametrize(
    ("line", "stdin", "said"),
    [
        ("tar t", b"x" * 600, "tar: Not tar\n"),
        ("tar c", b"", "tar: empty archive\n"),
        ("tar x", archive(tarfile.GNU_FORMAT, ("a", b"x" * 900))[:1000], "tar: EOF\n"),
        (
            "tar t",
            archive(tarfile.GNU_FORMAT, ("a", b"x"))[:1024] + b"y" * 9,
            "tar: short header\n",
        ),
        (
            "tar t",
            archive(tarfile.GNU_FORMAT, ("a", b"x"))[:1024] + b"y" * 512,
            "tar: bad header\n",
        ),
        ("tar cf t nope", b"", "tar: nope: No such file or directory\n"),
        ("tar xz", b"\x1f\x8b\x08", "tar: gzread: <fd:0>: unexpected end of file\n"),
        ("zcat", gzip.compress(b"x" * 99)[:20], "zcat: gzread: <fd:0>: unexpected end of file\n"),
        ("gzip nope", b"", "gzip: nope: No such file or directory\n"),
        ("echo x >f; gunzip f", b"", "gunzip: no .gz: f\n"),
        ("echo x >f; echo y >f.gz; gzip f", b"", "gzip: f.gz: File exists\n"),
        ("run-as com.android.notes ls", b"", "run-as: package not debuggable: com.android.notes\n"),
        ("run-as com.nope ls", b"", "run-as: unknown package: com.nope\n"),
        ("od -t z1", b"x", "od: bad -t z1\n"),
        ("xxd nope", b"", "xxd: nope: No such file or directory\n"),
    ],
    ids=lambda value: "stdin" if isinstance(value, bytes) else str(value).strip(),
)
async def test_what_cannot_be_done_is_said_as_on_a_phone(
    run: Run, line: str, stdin: bytes, said: str
) -> None:
    status, _, err = await run(line, stdin)
    assert (status, err) == (1, said)


async def test_gzip_works_in_place_and_in_pipes(run: Run) -> None:
    assert await run("echo kept >f; chmod 640 f; gzip f; ls") == (0, b"f.gz\n", "")
    status, packed, _ = await run("cat f.gz")
    assert (status, gzip.decompress(packed)) == (0, b"kept\n")
    assert await run("gunzip -k f.gz; stat -c %a f; ls") == (0, b"640\nf\nf.gz\n", "")
    two = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0"
    assert await run("zcat", two) == (0, b"one two", "")
    assert await run("zcat", b"not compressed") == (0, b"not compressed", "")
    assert (await run("gzip -9 | gunzip | md5sum", bytes(300_000)))[1] == (
        await run("md5sum", bytes(300_000))
    )[1]


async def test_a_small_file_that_unpacks_to_much_is_handed_on_in_pieces(run: Run) -> None:
    bomb = gzip.compress(bytes(64 * 1024 * 1024), 9)
    assert await run("zcat | head -c 5 | wc -c", bomb) == (0, b"5\n", "")


@pytest.mark.parametrize(
    ("line", "out"),
    [
        (
            "echo 'hello, world 123' | xxd",
            "00000000: 6865 6c6c 6f2c 2077 6f72 6c64 2031 3233  hello, world 123\n"
            "00000010: 0a                                       .\n",
        ),
        ("echo hello | xxd -g 1 -c 4", "00000000: 68 65 6c 6c  hell\n00000004: 6f 0a        o.\n"),
        ("echo hello | xxd -p", "68656c6c6f0a\n"),
        ("echo hello | xxd -i", "  0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a\n"),
        ("echo hello | xxd -s 2 -l 3", "00000002: 6c6c 6f                                  llo\n"),
        ("echo 68 65 6c 6c 6f 0a | xxd -r -p; echo hello | xxd | xxd -r", "hello\nhello\n"),
        ("echo hello | od", "0000000 062550 066154 005157\n0000006\n"),
        ("echo hello | od -An -tx1", " 68 65 6c 6c 6f 0a\n"),
        ("printf 'a\\tb\\0\\377' | od -c", "0000000   a  \\t   b  \\0 377\n0000005\n"),
        ("head -c 48 /dev/zero | od -A d -x | cut -c1-17", "0000000 0000 0000\n*\n0000048\n"),
        (
            "printf '\\376\\377\\377\\377' | od -An -td4; printf abcd | od -j 2 -N 1 -c",
            "          -2\n0000002   c\n0000003\n",
        ),
    ],
)
async def test_bytes_are_dumped_as_toybox_does(run: Run, line: str, out: str) -> None:
    assert await run(line) == (0, out.encode(), "")


@given(st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_no_damaged_archive_raises_or_leaves_its_place(chance: random.Random) -> None:
    async def scenario() -> None:
        with tempfile.TemporaryDirectory() as folder:
            phone = Phone(Path(folder), name="shell")
            userland = Userland(phone, Path(folder), "shell")
            data = archive(
                tarfile.PAX_FORMAT,
                ("a" * 120, b"x" * 600),
                ("b/c", b""),
                ("d", b"y"),
                mtime=1.5,
                linkname="é" * 90,
            ) + archive(tarfile.GNU_FORMAT, ("e" * 200, b"z"))
            for _ in range(4):
                damaged = mutated(chance, data)
                await run_on(userland, "mkdir -p o; tar x -C o; tar tv", damaged)
                await run_on(userland, "gunzip", mutated(chance, gzip.compress(data)))
            assert (await run_on(userland, f"ls {TMP}"))[1] == b"o\n"
            phone.close()

    asyncio.run(scenario())


async def test_a_folder_goes_through_adb_as_an_archive(connected: Connected) -> None:
    made = await connected("exec-out", "tar -C /sdcard -czf - Download DCIM")
    with tarfile.open(fileobj=io.BytesIO(made.out)) as tar:
        names = {one.name for one in tar}
    assert {"Download", "DCIM"} <= names
    said = await connected.shell("mkdir /sdcard/copy && tar xz -C /sdcard/copy", stdin=made.out)
    assert said.status == 0, said
    listed = await connected.shell("cd /sdcard/copy && find . -type f | wc -l")
    assert int(listed.text) == sum("." in name.rpartition("/")[2] for name in names)

"""The exchanges of the Android project's own tests of files: push, pull and sync by a stock adb.

Written after the class FileOperationsTest of packages/modules/adb/test_device.py. Invariant: on the
phone nothing outside one folder is written.
"""

import hashlib
import os
import random
from collections.abc import Callable
from pathlib import Path

from scripts.exams.cases import NotApplicable
from scripts.exams.stock_adb import StockAdb

FOLDER = "/data/local/tmp/adb_test_dir"


def _fresh(adb: StockAdb) -> None:
    adb.text("shell", f"rm -rf {FOLDER}; mkdir {FOLDER}")


def _random_files(folder: Path, count: int = 32) -> dict[str, bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for number in range(count):
        data = os.urandom(random.randrange(1024, 4096))
        (folder / f"test_{number}").write_bytes(data)
        made[f"test_{number}"] = data
    return made


def _sums(adb: StockAdb, folder: str) -> dict[str, str]:
    lines = adb.text("shell", f"cd '{folder}' && md5sum test_*").splitlines()
    return {line.split()[1]: line.split()[0] for line in lines}


def _same(adb: StockAdb, files: dict[str, bytes], folder: str) -> None:
    wanted = {name: hashlib.md5(data).hexdigest() for name, data in files.items()}
    assert _sums(adb, folder) == wanted


def pushes_files(adb: StockAdb) -> None:
    """FileOperationsTest: random files into a folder, one over another, 5 MB, into a missing one"""
    _fresh(adb)
    files = _random_files(adb.folder / "push32")
    adb.text("push", *(str(adb.folder / "push32" / name) for name in files), FOLDER)
    _same(adb, files, FOLDER)
    large = adb.folder / "large"
    large.write_bytes(os.urandom(5 << 20))
    for _ in range(2):
        adb.text("push", str(large), f"{FOLDER}/made for it/test_large")
    _same(adb, {"test_large": large.read_bytes()}, f"{FOLDER}/made for it")
    # A folder that ends in a slash is not made: the name of the file would be the folder's.
    assert adb.run("push", str(large), f"{FOLDER}/made too/").returncode == 1
    empty = adb.folder / "empty folder"
    empty.mkdir(exist_ok=True)
    adb.text("push", str(empty), f"{FOLDER}/")
    assert adb.run("shell", f"[ -d '{FOLDER}/empty folder' ]").returncode == 0
    missing = adb.run("push", str(adb.folder / "not here"), FOLDER)
    assert missing.returncode == 1, missing
    done = adb.run("push", str(large), "/dev/null/x")
    assert done.returncode == 1, done
    assert b"Not a directory" in done.stdout + done.stderr, done


def pushes_over_links(adb: StockAdb) -> None:
    """FileOperationsTest: a link to a folder is followed; one in a folder stays one"""
    _fresh(adb)
    real = adb.folder / "linked"
    files = _random_files(real, 3)
    link = adb.folder / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(real)
    (real / "test_link").unlink(missing_ok=True)
    (real / "test_link").symlink_to(real / "test_0")
    adb.text("push", str(link), f"{FOLDER}/pushed")
    assert adb.text("shell", f"readlink {FOLDER}/pushed/test_link") == f"{real}/test_0\n"
    adb.text("shell", f"rm {FOLDER}/pushed/test_link")
    _same(adb, files, f"{FOLDER}/pushed")
    adb.text("shell", f"mkdir {FOLDER}/real; ln -s {FOLDER}/real {FOLDER}/alias")
    adb.text("push", str(real / "test_0"), f"{FOLDER}/alias")
    _same(adb, {"test_0": files["test_0"]}, f"{FOLDER}/real")
    assert adb.text("shell", f"readlink {FOLDER}/alias") == f"{FOLDER}/real\n"


def pulls_files(adb: StockAdb) -> None:
    """FileOperationsTest: pulls of files, links, folders, empty ones, several, and what is not"""
    _fresh(adb)
    line = (
        f"cd {FOLDER}; mkdir d d/e d/empty; dd if=/dev/urandom of=d/f bs=1024 count=5120 2>&1; "
        "echo one > d/e/one; ln -s ../d/f d/l; ln -s d ld; echo x > 'with space'"
    )
    adb.text("shell", line)
    into = adb.folder / "pulled"
    into.mkdir(exist_ok=True)
    adb.text("pull", f"{FOLDER}/d", str(into))
    summed = adb.text("shell", "md5sum", f"{FOLDER}/d/f").split()[0]
    for name in ("f", "l"):
        assert hashlib.md5((into / "d" / name).read_bytes()).hexdigest() == summed
    assert (into / "d/e/one").read_text() == "one\n"
    assert (into / "d/empty").is_dir()
    adb.text("pull", f"{FOLDER}/ld", str(adb.folder / "pulled link"))
    assert (adb.folder / "pulled link/e/one").read_text() == "one\n"
    adb.text("pull", f"{FOLDER}/with space", f"{FOLDER}/d/e/one", str(into))
    assert (into / "with space").read_text() == "x\n"
    done = adb.run("pull", f"{FOLDER}/nothing", str(into))
    assert done.returncode == 1, done
    assert b"No such file or directory" in done.stdout + done.stderr, done
    adb.text("pull", "-a", f"{FOLDER}/d/e/one", str(into / "dated"))
    changed = int(adb.text("shell", "stat", "-c", "%Y", f"{FOLDER}/d/e/one"))
    assert int((into / "dated").stat().st_mtime) == changed


def pushes_unicode(adb: StockAdb) -> None:
    """FileOperationsTest.test_unicode_paths: names in other scripts both ways"""
    _fresh(adb)
    name = "로보카 폴리 – grüße"
    path = adb.folder / name
    path.write_text("unicode")
    adb.text("push", str(path), f"{FOLDER}/adb-test-{name}")
    assert f"adb-test-{name}" in adb.text("shell", f"ls {FOLDER}")
    adb.text("pull", f"{FOLDER}/adb-test-{name}", str(adb.folder / f"back {name}"))
    assert (adb.folder / f"back {name}").read_text() == "unicode"


def _modern(adb: StockAdb) -> bool:
    return int(adb.version().split(".")[0]) >= 31


def syncs(adb: StockAdb) -> None:
    """FileOperationsTest.test_sync: a product's folder, then only what changed"""
    _fresh(adb)
    out = adb.folder / "product"
    files = _random_files(out / "data" / FOLDER.removeprefix("/data/"))
    adb.environment["ANDROID_PRODUCT_OUT"] = str(out)
    try:
        adb.text("sync", "data")
    finally:
        del adb.environment["ANDROID_PRODUCT_OUT"]
    _same(adb, files, FOLDER)
    here = out / "data" / FOLDER.removeprefix("/data/")
    done = adb.run("push", "--sync", *(str(path) for path in sorted(here.iterdir())), FOLDER)
    assert b"32 skipped" in done.stdout + done.stderr, done
    (here / "test_3").write_bytes(b"changed")
    os.utime(here / "test_3", (1_600_000_000, 1_600_000_000))
    adb.text("push", "--sync", str(here / "test_3"), FOLDER)
    assert adb.text("shell", "cat", f"{FOLDER}/test_3") == "changed"


def compresses(adb: StockAdb) -> None:
    """FileOperationsTest, compressed: each algorithm, and -n, which writes none"""
    if not _modern(adb):
        raise NotApplicable("that adb compresses nothing")
    _fresh(adb)
    path = adb.folder / "squeezed"
    path.write_bytes(os.urandom(200_000) + b"\0" * 2_000_000)
    for how in ("any", "none", "brotli", "lz4", "zstd"):
        adb.text("push", "-z", how, str(path), f"{FOLDER}/test_{how}")
        adb.text("pull", "-z", how, f"{FOLDER}/test_{how}", str(adb.folder / f"pulled_{how}"))
        assert (adb.folder / f"pulled_{how}").read_bytes() == path.read_bytes(), how
    adb.text("push", "-n", str(path), f"{FOLDER}/test_dry")
    assert adb.run("shell", f"[ -e {FOLDER}/test_dry ]").returncode == 1
    adb.text("shell", f"echo kept > {FOLDER}/test_dry")
    adb.text("push", "-n", str(path), f"{FOLDER}/test_dry")
    assert adb.text("shell", f"cat {FOLDER}/test_dry") == "kept\n"


def keeps_modes(adb: StockAdb) -> None:
    """FileOperationsTest: modes and times of what is pushed, as toybox prints them"""
    _fresh(adb)
    path = adb.folder / "mode"
    path.write_text("x")
    path.chmod(0o755)
    os.utime(path, (1_500_000_000, 1_500_000_000))
    adb.text("push", str(path), f"{FOLDER}/mode")
    assert adb.text("shell", "stat", "-c", "'%a %Y %s %F'", f"{FOLDER}/mode") == (
        "755 1500000000 1 regular file\n"
    )
    listed = adb.text("shell", "ls", "-l", f"{FOLDER}/mode")
    assert listed.startswith("-rwxr-xr-x 1 shell shell"), listed


FILE_CASES: list[Callable[[StockAdb], None]] = [
    pushes_files,
    pushes_over_links,
    pulls_files,
    pushes_unicode,
    syncs,
    compresses,
    keeps_modes,
]

#!/bin/sh
# adbutils' sync, and /sdcard.
#
# /sdcard is a symbolic link on every phone since Android 4.4, and sync's STAT tells of the link itself.
# Expected of push("picture.png", "/sdcard"): /sdcard/picture.png, as `adb push` does it, and of
# pull("/sdcard", …) the folder. Seen: the link is no folder, so the file's target is /sdcard itself, which
# a phone refuses; and it is a file, since a link's type has the bit of a file, so a file is pulled.
# Types: stat(2), S_IFLNK 0120000 and S_IFREG 0100000; STAT follows no link: AOSP adbd, do_lstat_v1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet adbutils==2.12.0
"$folder/env/bin/python" - <<'PYTHON'
import stat
import sys
from importlib.metadata import version

from adbutils._proto import FileInfo
from adbutils.sync import Sync

KINDS = {"/sdcard": stat.S_IFLNK | 0o777, "/data/local/tmp": stat.S_IFDIR | 0o771}


class Phone(Sync):
    def stat(self, path):
        return FileInfo(KINDS[path], 21, None, path)

    def _push_file(self, src, dst, mode=0o755, check=False):
        return f"file {dst}"

    def pull_file(self, src, dst):
        return f"file {src}"

    def pull_dir(self, src, dst, exist_ok=True):
        return f"folder {src}"


print("adbutils", version("adbutils"))
seen = {path: (Phone(None).push("picture.png", path), Phone(None).pull(path, "here")) for path in KINDS}
for path, (pushed, pulled) in seen.items():
    print(f"  {path}: push to {pushed}, pull of {pulled}")
expected = {
    "/sdcard": ("file /sdcard", "file /sdcard"),
    "/data/local/tmp": ("file /data/local/tmp/picture.png", "folder /data/local/tmp"),
}
sys.exit(seen != expected)
PYTHON

#!/bin/sh
# adbutils' list_packages and the filters that its own description names.
#
# Expected of list_packages(["-i"]): the packages, as with every other filter. Seen: an empty list, because
# `-i` prints `  installer=…` behind the name and only lines that end with the name are read. With `-f` the
# "names" are paths: `/data/app/~~…==/base.apk=com.example.notes`.
# Lines: AOSP PackageManagerShellCommand.runListPackages.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet adbutils==2.12.0
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from adbutils.shell import ShellExtension

NAME = "com.example.notes"
LINES = {
    "-3": f"package:{NAME}",
    "-i": f"package:{NAME}  installer=com.android.vending",
    "-f": f"package:/data/app/~~q1w2e3==/{NAME}-r4t5==/base.apk={NAME}",
}


class Phone(ShellExtension):
    def shell(self, words, *_, **__):
        return LINES[words[-1]]


Phone.__abstractmethods__ = frozenset()
print("adbutils", version("adbutils"))
seen = {option: Phone().list_packages([option]) for option in LINES}
for option, names in seen.items():
    print(" ", option, names)
sys.exit(seen != {"-3": [NAME], "-i": [], "-f": [LINES["-f"].removeprefix("package:")]})
PYTHON

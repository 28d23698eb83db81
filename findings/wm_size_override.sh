#!/bin/sh
# appium-adb, pure-python-adb and a screen that is set smaller than its panel.
#
# `wm size 720x1600` (or the makers' setting for it) makes `wm size` print a second line, "Override
# size", and every coordinate of the tree and of `input` is in it. Seen: appium-adb and pure-python-adb
# answer the panel's size, and pure-python-adb raises on a set density, which is a second line too.
# adbutils answers what is in force.
# Lines: AOSP WindowManagerShellCommand.runDisplaySize and runDisplayDensity.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pure-python-adb==0.3.0.dev0 adbutils==2.12.0
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" appium-adb@12.13.1
cat > "$folder/ask.cjs" <<'NODE'
const { ADB } = require(`${__dirname}/node_modules/appium-adb`);
const adb = new ADB();
adb.shell = async () => "Physical size: 1080x2400\nOverride size: 720x1600";
adb.getScreenSize().then((size) => {
  const { version } = require(`${__dirname}/node_modules/appium-adb/package.json`);
  console.log("appium-adb", version, size);
  process.exit(size === "1080x2400" ? 0 : 1);
});
NODE
node "$folder/ask.cjs"
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from adbutils.shell import ShellExtension
from ppadb.plugins.device.wm import WM

SIZE = "Physical size: 1080x2400\nOverride size: 720x1600\n"
THIRD_WORDS = "420\n280\n"  # Of "Physical density: 420" and "Override density: 280".


class Old(WM):
    def shell(self, line, *_, **__):
        return SIZE if line == "wm size" else THIRD_WORDS


class New(ShellExtension):
    def shell(self, *_, **__):
        return SIZE


New.__abstractmethods__ = frozenset()
print("pure-python-adb", version("pure-python-adb"), Old().wm_size())
try:
    density = Old().wm_density()
except ValueError as error:
    density = "ValueError"
    print("pure-python-adb", error)
size = New()._wm_size()
print("adbutils", version("adbutils"), size)
sys.exit(
    tuple(Old().wm_size()) != (1080, 2400) or density != "ValueError" or (size.width, size.height) != (720, 1600)
)
PYTHON

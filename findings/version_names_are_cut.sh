#!/bin/sh
# Three readers of an app's version name.
#
# A version name is any text: letters, a second word, brackets. Seen, from the same line of
# `dumpsys package`: adbutils stops at the blank, appium-adb and pure-python-adb at the first letter or
# sign, which leaves a name that looks whole; appium-adb answers null and pure-python-adb raises
# AttributeError where it begins with a letter. (Android quotes nothing and ends the name with the line.)
# Shapes: names of Google's store, mail and messages apps.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pure-python-adb==0.3.0.dev0 adbutils==2.12.0
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" appium-adb@16.0.9
cat > "$folder/ask.mjs" <<'NODE'
import { readFileSync } from "fs";
import { ADB } from "appium-adb";
const { version } = JSON.parse(readFileSync(new URL("node_modules/appium-adb/package.json", import.meta.url)));
const adb = new ADB();
const seen = [];
for (const name of process.argv.slice(2)) {
  adb.shell = async () =>
    `Packages:\n  Package [com.example.notes] (5a6b7c8):\n    versionCode=84 minSdk=26 targetSdk=35\n    versionName=${name}\n`;
  seen.push((await adb.getPackageInfo("com.example.notes")).versionName);
}
console.log("appium-adb", version, JSON.stringify(seen));
process.exit(JSON.stringify(seen) === '["44.7.24","2026.10.12.1234.",null]' ? 0 : 1);
NODE
set -- "44.7.24-31 [0] [PR] 700000" "2026.10.12.1234.Release" "messages.android_20261010_00"
printf 'said:   %s | %s | %s\n' "$@"
node "$folder/ask.mjs" "$@" 2> "$folder/log" || { cat "$folder/log"; exit 1; }
"$folder/env/bin/python" -W ignore - "$@" <<'PYTHON'
import sys
from importlib.metadata import version

from adbutils.shell import ShellExtension
from ppadb.plugins.device.utils import Utils


class Old(Utils):
    def __init__(self, name):
        self.name = name

    def shell(self, *_, **__):
        return f"    versionName={self.name}\n"


class New(ShellExtension):
    def __init__(self, name):
        self.name = name

    def shell(self, words, *_, **__):
        if words[0] == "pm":
            return "package:/data/app/base.apk"
        return f"Packages:\n  Package [com.example.notes] (5a):\n    versionCode=84\n    versionName={self.name}\n"


def old(name):
    try:
        return Old(name).get_package_version_name("com.example.notes")
    except AttributeError:
        return AttributeError.__name__


New.__abstractmethods__ = frozenset()
names = sys.argv[1:]
olds, news = [old(name) for name in names], [New(name).app_info("com.example.notes").version_name for name in names]
print("pure-python-adb", version("pure-python-adb"), olds)
print("adbutils", version("adbutils"), news)
sys.exit(olds != ["44.7.24", "2026.10.12.1234.", "AttributeError"] or news != ["44.7.24-31", *names[1:]])
PYTHON

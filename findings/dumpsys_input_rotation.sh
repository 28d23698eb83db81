#!/bin/sh
# android_env and appium-adb, and how a phone of today is turned.
#
# `dumpsys input` printed "SurfaceOrientation: 1" (Android 12), then "InputDeviceOrientation: 1", and
# prints "InputDeviceOrientation: Rotation90" today (14 or 15). Seen: android_env reads the last digit of
# the line, which is 0 for each of Rotation0, 90, 180 and 270, and answers OK: a phone in landscape is in
# portrait. appium-adb finds nothing from the second spelling on, and answers null.
# Spellings: AOSP inputflinger, TouchInputMapper.dumpDisplay.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet android-env==1.3.0
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" appium-adb@16.0.9
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys
from importlib.metadata import version

from android_env.components.adb_call_parser import AdbCallParser
from android_env.proto import adb_pb2


class Phone:
    def __init__(self, line):
        self.line = line

    def execute_command(self, *_, **__):
        return f"Input Reader State:\n  Device 4: touch\n    Touch Input Mapper:\n      {self.line}\n".encode()


print("android_env", version("android-env"))
seen = {}
for line in ("SurfaceOrientation: 1", *(f"InputDeviceOrientation: Rotation{turn}" for turn in (0, 90, 180, 270))):
    request = adb_pb2.AdbRequest(get_orientation=adb_pb2.AdbRequest.GetOrientationRequest())
    answer = AdbCallParser(Phone(line)).parse(request)
    status = adb_pb2.AdbResponse.Status.Name(answer.status)
    seen[line] = (status, answer.get_orientation.orientation)
    print(" ", line, "->", *seen[line])
sys.exit(list(seen.values()) != [("OK", 1)] + [("OK", 0)] * 4)
PYTHON
cat > "$folder/ask.mjs" <<'NODE'
import { readFileSync } from "fs";
import { ADB } from "appium-adb";
const { version } = JSON.parse(readFileSync(new URL("node_modules/appium-adb/package.json", import.meta.url)));
const adb = new ADB();
console.log("appium-adb", version);
const seen = [];
for (const line of ["SurfaceOrientation: 1", "InputDeviceOrientation: 1", "InputDeviceOrientation: Rotation90"]) {
  adb.shell = async () => `      ${line}\n`;
  seen.push(await adb.getScreenOrientation());
  console.log(" ", line, "->", seen.at(-1));
}
process.exit(JSON.stringify(seen) === "[1,null,null]" ? 0 : 1);
NODE
node "$folder/ask.mjs"

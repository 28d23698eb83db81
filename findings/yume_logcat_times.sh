#!/bin/sh
# @yume-chan/android-bin and the times of log entries.
#
# An entry's time has nanoseconds, and phones fill them. Expected of toString(ThreadTime): `10:00:00.123`,
# as logcat prints. Seen: `10:00:00.123.456789`, because the rest of the division is printed too, so a
# line has two points. The same client asks for entries from 10:00:00.005 on with `-t 1795860000.5`, half a
# second late, because the milliseconds are not filled up with noughts.
# Entry: AOSP liblog, log_read.h, struct logger_entry (version 4).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" \
    @yume-chan/android-bin@2.1.0 @yume-chan/stream-extra@2.1.0
cat > "$folder/ask.mjs" <<'NODE'
import { readFileSync } from "fs";
import { Logcat, LogcatFormat } from "@yume-chan/android-bin";
import { ReadableStream } from "@yume-chan/stream-extra";

const file = new URL("node_modules/@yume-chan/android-bin/package.json", import.meta.url);
console.log("@yume-chan/android-bin", JSON.parse(readFileSync(file)).version);
const SECOND = 1795860000; // 2026-11-28 10:00:00 UTC.

function entry(nanoseconds) {
  const payload = Buffer.concat([Buffer.from([4]), Buffer.from("Notes\0saved\0")]);
  const header = Buffer.alloc(28);
  header.writeUInt16LE(payload.length, 0);
  header.writeUInt16LE(header.length, 2);
  [4321, 4321, SECOND, nanoseconds, 0, 10123].forEach((number, at) => header.writeUInt32LE(number, 4 + 4 * at));
  return Buffer.concat([header, payload]);
}

let asked;
const spawn = async (words) => {
  asked = words;
  const bytes = Buffer.concat([entry(5_000_000), entry(123_456_789)]);
  const output = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
  });
  return { output, kill() {} };
};
const log = new Logcat({ subprocess: { noneProtocol: { spawn } } });
const times = [];
const reader = log.binary({ tail: new Date(SECOND * 1000 + 5) }).getReader();
for (let one = await reader.read(); !one.done; one = await reader.read()) {
  const line = one.value.toString(LogcatFormat.ThreadTime);
  console.log(" ", line);
  times.push(line.split(" ")[1]);
}
console.log(" ", asked.join(" "));
const same = times[0] === "10:00:00.005" && times[1] === "10:00:00.123.456789";
process.exit(same && asked.at(-1) === `${SECOND}.5` ? 0 : 1);
NODE
TZ=UTC node "$folder/ask.mjs"

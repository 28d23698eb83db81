#!/bin/sh
# adbkit, @yume-chan/android-bin and an app that Android does not start.
#
# Android says in words why an activity was not started or an app was not removed; the exit status says
# nothing over these services. Seen: android-bin's startActivity() resolves whatever they are, because it
# walks the answer letter by letter where it means lines; adbkit's resolves for an activity that is not
# exported, and its uninstall() answers true for an app of the system that stays. adbkit does reject an
# activity that does not exist. And android-bin's getPackageSources() leaves `path` out of its
# command and has no sources for any app.
# Answers: AOSP ActivityManagerShellCommand, ShellCommand.exec, PackageManagerShellCommand.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" \
    @devicefarmer/adbkit@3.3.9 @yume-chan/android-bin@2.1.0 @yume-chan/stream-extra@2.1.0
cat > "$folder/ask.mjs" <<'NODE'
import { readFileSync } from "fs";
import { createServer } from "net";
import adbkit from "@devicefarmer/adbkit";
import { ActivityManager, IntentBuilder, PackageManager } from "@yume-chan/android-bin";
import { ReadableStream } from "@yume-chan/stream-extra";

const MISSING = "com.example.notes/.Gone";
const HIDDEN = "com.example.bank/.Inner";
const ANSWERS = [
  [MISSING, `Starting: Intent { cmp=${MISSING} }\nError type 3\n` +
    "Error: Activity class {com.example.notes/com.example.notes.Gone} does not exist.\n"],
  [HIDDEN, `Starting: Intent { cmp=${HIDDEN} }\n\nException occurred while executing 'VERB':\n` +
    `java.lang.SecurityException: Permission Denial: starting Intent { flg=0x10000000 cmp=${HIDDEN} } ` +
    "from null (pid=4321, uid=2000) not exported from uid 10123\n"],
  ["uninstall", "Failure [DELETE_FAILED_INTERNAL_ERROR]\n"],
  ["package path ", "package:/data/app/com.example.notes-1/base.apk\n"],
  ["package -p ", "Unknown command: -p\n"],
];
const verb = (command) => (command.includes("start-activity") ? "start-activity" : "start");
const answer = (command) =>
  (ANSWERS.find(([part]) => command.includes(part))?.[1] ?? "").replace("VERB", verb(command));

// A server of adb with one phone, for adbkit.
const server = createServer((socket) => {
  let rest = "";
  socket.on("error", () => {}).on("data", (data) => {
    rest += data;
    while (rest.length >= 4) {
      const end = 4 + parseInt(rest.slice(0, 4), 16);
      if (rest.length < end) return;
      const request = rest.slice(4, end);
      rest = rest.slice(end);
      if (request.startsWith("shell:")) socket.end("OKAY" + answer(request));
      else socket.write("OKAY");
    }
  });
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const phone = adbkit.Adb.createClient({ host: "127.0.0.1", port: server.address().port }).getDevice("PHONE");

// A phone with abb_exec (Android 11 and later), for android-bin.
const asked = [];
const adb = {
  canUseFeature: (name) => name === "abb_exec",
  async createSocket(service) {
    const words = service.slice("abb_exec:".length).replaceAll("\0", " ");
    asked.push(words);
    const readable = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(answer(words)));
        controller.close();
      },
    });
    return { readable, writable: undefined, closed: Promise.resolve(), close() {} };
  },
};
const start = (component) =>
  new ActivityManager(adb).startActivity({ intent: new IntentBuilder().setComponent(component) });

async function outcome(promise) {
  try {
    return (await promise) ?? "resolved";
  } catch (error) {
    return `rejected: ${error.message}`;
  }
}

for (const name of ["@devicefarmer/adbkit", "@yume-chan/android-bin"]) {
  const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
  console.log(name, JSON.parse(readFileSync(file)).version);
}
const seen = {
  "adbkit, missing": await outcome(phone.startActivity({ component: MISSING })),
  "adbkit, not exported": await outcome(phone.startActivity({ component: HIDDEN })),
  "adbkit, uninstall": await outcome(phone.uninstall("com.android.settings")),
  "android-bin, missing": await outcome(start(MISSING)),
  "android-bin, not exported": await outcome(start(HIDDEN)),
  "android-bin, sources": JSON.stringify(await new PackageManager(adb).getPackageSources("com.example.notes")),
};
for (const [name, value] of Object.entries(seen)) console.log(`  ${name}: ${value}`);
console.log(`  android-bin asked: ${asked.at(-1)}`);
const expected = [true, true, "resolved", "resolved", "[]"];
const [missing, ...others] = Object.values(seen);
const same = String(missing).startsWith("rejected: Activity class") && String(others) === String(expected);
process.exit(same && asked.at(-1) === "package -p com.example.notes " ? 0 : 1);
NODE
node "$folder/ask.mjs"

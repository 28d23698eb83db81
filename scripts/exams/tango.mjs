// @yume-chan/adb, adb-scrcpy and adb-server-node-tcp: a client in Node, by way of an adb server.
// Prints one JSON object a case, as cases.py does; video goes to files that the exam decodes.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AdbServerClient, LinuxFileType } from "@yume-chan/adb";
import { AdbServerNodeTcpConnector } from "@yume-chan/adb-server-node-tcp";
import * as scrcpy from "@yume-chan/adb-scrcpy";
import { AndroidKeyCode, AndroidKeyEventAction, AndroidMotionEventAction } from "@yume-chan/scrcpy";
import { ReadableStream } from "@yume-chan/stream-extra";

const serial = process.env.EXAM_SERIAL;
const port = Number(process.env.ANDROID_ADB_SERVER_PORT);
const folder = process.env.EXAM_FOLDER;
const client = new AdbServerClient(new AdbServerNodeTcpConnector({ host: "127.0.0.1", port }));
const LIMIT_MS = 60_000;
const SERVER = "/data/local/tmp/scrcpy-server.jar";

function must(value, what) {
  if (!value) throw new Error(what);
}
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const open = () => client.createAdb({ serial });
const bytes = (data) => new ReadableStream({
  start(controller) { controller.enqueue(data); controller.close(); },
});
async function collect(stream) {
  const parts = [];
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(parts);
    parts.push(value);
  }
}

const cases = {
  "lists the device": async () => {
    const devices = await client.getDevices();
    must(devices.some((one) => one.serial === serial && one.state === "device"), "not listed");
  },
  "reads properties and features": async () => {
    const adb = await open();
    must((await adb.getProp("ro.build.version.sdk")) === "34", "sdk");
    must(adb.deviceFeatures.includes("shell_v2"), "features");
  },
  "runs a plain command": async () => {
    const adb = await open();
    const text = await adb.subprocess.noneProtocol.spawnWaitText("echo hi; echo no >&2");
    must(text === "hi\nno\n", JSON.stringify(text));
  },
  "runs a framed command with stdin, stderr and exit code": async () => {
    const adb = await open();
    const said = await adb.subprocess.shellProtocol.spawnWaitText("echo out; echo err >&2; exit 7");
    must(said.stdout === "out\n" && said.stderr === "err\n" && said.exitCode === 7,
      JSON.stringify(said));
  },
  "ends a command by closing it": async () => {
    const adb = await open();
    for (const spawner of [adb.subprocess.noneProtocol, adb.subprocess.shellProtocol]) {
      const running = await spawner.spawn("sleep 4321");
      running.exited.catch(() => undefined);
      await running.kill();
    }
    await sleep(800);
    const left = await adb.subprocess.noneProtocol.spawnWaitText("ps -A -o ARGS");
    must(!left.includes("sleep 4321"), "it still runs");
  },
  "writes, stats, lists and reads a file": async () => {
    const adb = await open();
    const sync = await adb.sync();
    const data = new Uint8Array(1_000_000).map((_, at) => at % 251);
    const path = "/data/local/tmp/tango.bin";
    await sync.write({ filename: path, file: bytes(data), permission: 0o640, mtime: 1600000000 });
    const stat = await sync.stat(path);
    must(Number(stat.size) === 1_000_000 && stat.type === LinuxFileType.File, "stat");
    const names = (await sync.readdir("/data/local/tmp")).map((one) => one.name);
    must(names.includes("tango.bin"), "list");
    must(Buffer.compare(await collect(sync.read(path)), Buffer.from(data)) === 0, "content");
    await sync.dispose();
  },
  "reads the framebuffer": async () => {
    const frame = await (await open()).framebuffer();
    must(frame.width === 1080 && frame.height === 2400, "size");
    must(frame.data.length === 1080 * 2400 * 4, "bytes");
  },
  "opens, lists, uses and removes a reverse tunnel": async () => {
    const adb = await open();
    const address = await adb.reverse.add("tcp:0", async (socket) => {
      const writer = socket.writable.getWriter();
      await writer.write(Buffer.from("from the host\n"));
      await writer.close();
    });
    const tunnels = await adb.reverse.list();
    must(tunnels.some((one) => one.localName === address), `list: ${JSON.stringify(tunnels)}`);
    const line = `nc localhost ${address.split(":")[1]} < /dev/null`;
    const said = await adb.subprocess.noneProtocol.spawnWaitText(line);
    must(said === "from the host\n", JSON.stringify(said));
    await adb.reverse.remove(address);
    must((await adb.reverse.list()).length === 0, "it is still there");
  },
};

for (const [version, forward] of [
  ["1_24", true], ["1_24", false], ["2_7", true], ["3_3_3", true], ["3_3_3", false],
]) {
  const dotted = version.replaceAll("_", ".");
  cases[`scrcpy ${dotted}, ${forward ? "forward" : "reverse"}: video, keys, touch, clipboard`] =
    () => session(version, dotted, forward);
}

async function session(version, dotted, forward) {
  const adb = await open();
  await scrcpy.AdbScrcpyClient.pushServer(adb, bytes(new Uint8Array(64)), SERVER);
  const Options = scrcpy[`AdbScrcpyOptions${version}`];
  const init = { tunnelForward: forward, maxSize: 720, control: true, logLevel: "info" };
  if (!version.startsWith("1_")) init.audio = false;
  const options = new Options(init, { version: dotted });
  const running = await scrcpy.AdbScrcpyClient.start(adb, SERVER, options);
  void running.output.pipeTo(new WritableStream()).catch(() => undefined);
  const video = await running.videoStream;
  const parts = [];
  let frames = 0;
  const reading = (async () => {
    const reader = video.stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parts.push(Buffer.from(value.data));
      if (value.type === "data") frames += 1;
    }
  })().catch(() => undefined);
  const control = running.controller;
  const key = { keyCode: AndroidKeyCode.AndroidHome, repeat: 0, metaState: 0 };
  await control.injectKeyCode({ ...key, action: AndroidKeyEventAction.Down });
  await control.injectKeyCode({ ...key, action: AndroidKeyEventAction.Up });
  const shell = (line) => adb.subprocess.noneProtocol.spawnWaitText(line);
  await shell("am start -n com.android.settings/.Settings");
  await sleep(500);
  const place = { pointerId: 7n, videoWidth: video.width, videoHeight: video.height,
    pointerX: video.width / 2, pressure: 1, actionButton: 0, buttons: 0 };
  const touch = (action, y) => control.injectTouch({ ...place, action, pointerY: y });
  for (const [start, end] of [[0.7, 0.3], [0.3, 0.7], [0.7, 0.3], [0.3, 0.7]]) {
    await touch(AndroidMotionEventAction.Down, video.height * start);
    for (let part = 1; part <= 20; part += 1) {
      await touch(AndroidMotionEventAction.Move, video.height * (start + (end - start) * part / 20));
      await sleep(15);
    }
    await touch(AndroidMotionEventAction.Up, video.height * end);
  }
  await control.setClipboard({ sequence: 0n, paste: false, content: `from tango ${dotted}` });
  await sleep(300);
  const clip = await shell("cmd clipboard get-primary-clip");
  await running.close();
  await Promise.race([reading, sleep(3000)]);
  const name = `tango-${dotted}-${forward ? "forward" : "reverse"}.h264`;
  writeFileSync(join(folder, name), Buffer.concat(parts));
  must(frames > 20, `${frames} frames`);
  must(clip.includes(`from tango ${dotted}`), `clipboard: ${clip}`);
  return { video: name, frames };
}

for (const [name, run] of Object.entries(cases)) {
  const row = { case: name, outcome: "passed", reason: "" };
  try {
    const limit = sleep(LIMIT_MS).then(() => { throw new Error("took too long"); });
    limit.catch(() => undefined);
    Object.assign(row, await Promise.race([run(), limit]));
  } catch (error) {
    row.outcome = "failed";
    row.reason = String(error?.stack ?? error).split("\n").slice(0, 2).join(" ").slice(0, 300);
  }
  console.log(JSON.stringify(row));
}
process.exit(0);

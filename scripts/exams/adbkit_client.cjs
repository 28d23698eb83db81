// @devicefarmer/adbkit, the client that device farms are built on, by way of an adb server.

const { Adb } = require("@devicefarmer/adbkit");
const { Readable } = require("node:stream");
const { must, equal, fails, run } = require("./cases.cjs");

const serial = process.env.EXAM_SERIAL;
const port = Number(process.env.ANDROID_ADB_SERVER_PORT);
const client = Adb.createClient({ host: "127.0.0.1", port });
const device = client.getDevice(serial);
const SETTINGS = "com.android.settings";
const FILE = "/data/local/tmp/adbkit.txt";

const collect = (stream) => Adb.util.readAll(stream);
const shell = async (line) => String(await collect(await device.shell(line)));
const ended = (stream) => new Promise((resolve, reject) => {
  stream.on("end", resolve).on("error", reject);
});

run({
  "lists the device": async () => {
    const devices = await client.listDevices();
    must(devices.some((one) => one.id === serial && one.type === "device"), "not listed");
  },
  "reads state, properties and features": async () => {
    equal(await device.getState(), "device");
    equal((await device.getProperties())["ro.build.version.sdk"], "34");
    must((await device.getFeatures())["android.hardware.touchscreen"], "no touchscreen");
  },
  "lists packages and tells whether one is installed": async () => {
    must((await device.getPackages()).includes(SETTINGS), "no settings");
    equal([await device.isInstalled(SETTINGS), await device.isInstalled("no.such")], [true, false]);
  },
  "runs a command with words that need quotes": async () => {
    equal(String(await collect(await device.shell(["echo", "a b", "it's", "$x"]))),
      "a b it's $x\n");
  },
  "starts an activity and waits, with extras and flags": async () => {
    must(await device.startActivity({
      wait: true, component: `${SETTINGS}/.Settings`, flags: [0x10000000],
      extras: [{ key: "a", type: "int", value: 1 }, { key: "b", type: "bool", value: true }],
    }), "not started");
    must((await shell("dumpsys activity activities")).includes(SETTINGS), "not in front");
  },
  "is told of an activity that does not exist": () =>
    fails(() => device.startActivity({ component: "no.such/.Thing" }), /does not exist/),
  "pushes, stats, lists and pulls a file": async () => {
    await ended(await device.push(Readable.from([Buffer.from("pushed")]), FILE));
    equal(Number((await device.stat(FILE)).size), 6);
    must((await device.readdir("/data/local/tmp")).some((one) => one.name === "adbkit.txt"),
      "not listed");
    equal(String(await collect(await device.pull(FILE))), "pushed");
  },
  "takes a screenshot": async () => {
    const png = await collect(await device.screencap());
    equal(png.subarray(1, 4).toString(), "PNG");
  },
  "reads the binary log, live": async () => {
    const log = await device.openLogcat();
    const found = new Promise((resolve) => log.on("entry", (entry) => {
      if (entry.tag === "adbkit") resolve(entry);
    }));
    await shell("log -t adbkit -p e 'seen by a farm'");
    const entry = await found;
    log.end();
    equal([entry.message, entry.priority], ["seen by a farm", 6]);
  },
  "reads how busy each core is": async () => {
    const stat = await device.openProcStat();
    const load = await new Promise((resolve, reject) => {
      stat.once("load", resolve).once("error", reject);
    });
    stat.end();
    must(load.cpu0 && load.cpu7, JSON.stringify(load));
  },
  "forwards and reverses, and lists both": async () => {
    await device.forward("tcp:0", "localabstract:virtual-phone-state");
    must((await device.listForwards()).some((one) => one.serial === serial), "no forward");
    await device.reverse("tcp:7001", "tcp:7002");
    must((await device.listReverses()).some((one) => one.remote === "tcp:7001"), "no reverse");
  },
  "opens a socket of the phone": async () => {
    const state = await collect(await device.openLocal("localabstract:virtual-phone-state"));
    must(JSON.parse(String(state)), "no state");
  },
  "clears an app, and is told of one that is not there": async () => {
    must(await device.clear("com.android.calculator2"), "not cleared");
    await fails(() => device.clear("no.such"), /could not be cleared/);
  },
  "is refused root as on a production build": () => fails(() => device.root(), /production/),
  "follows devices as they come": async () => {
    const tracker = await client.trackDevices();
    tracker.end();
    await device.waitForDevice();
    must(await device.waitBootComplete(), "not booted");
  },
});

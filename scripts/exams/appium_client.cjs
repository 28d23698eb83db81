// appium-adb, what Appium drives Android with: the adb binary, and what it reads from its output.

const { writeFileSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const { ADB } = require("appium-adb");
const { must, equal, fails, run } = require("./cases.cjs");

const serial = process.env.EXAM_SERIAL;
const folder = process.env.EXAM_FOLDER;
const SETTINGS = "com.android.settings";
const MESSAGES = "com.android.messaging";
const KEYBOARD = "com.android.adbkeyboard/.AdbIME";
let adb;

run({
  "finds the device": async () => {
    adb = await ADB.createADB({
      adbPort: Number(process.env.ANDROID_ADB_SERVER_PORT), udid: serial,
      suppressKillServer: true, adbExecTimeout: 30_000,
    });
    adb.setDeviceId(serial);
    must((await adb.getConnectedDevices()).some((one) => one.udid === serial), "not listed");
  },
  "reads version, model, locale and time zone": async () => {
    equal(await adb.getApiLevel(), 34);
    equal(await adb.getPlatformVersion(), "14");
    equal(await adb.getDeviceLocale(), "en-US");
    equal(await adb.getTimeZone(), "UTC");
    must(await adb.getModel(), "no model");
  },
  "reads size, density and rotation of the screen": async () => {
    equal([await adb.getScreenSize(), await adb.getScreenDensity()], ["1080x2400", 420]);
    equal(await adb.getScreenOrientation(), 0);
  },
  "switches Wi-Fi, mobile data, airplane mode and location, and reads them": async () => {
    await adb.setWifiState(false);
    await adb.setDataState(false);
    equal([await adb.isWifiOn(), await adb.isDataOn()], [false, false]);
    await adb.setWifiState(true);
    await adb.setDataState(true);
    equal([await adb.isWifiOn(), await adb.isDataOn()], [true, true]);
    await adb.setAirplaneMode(true);
    equal(await adb.isAirplaneModeOn(), true);
    await adb.setAirplaneMode(false);
    await adb.toggleGPSLocationProvider(false);
    equal(await adb.getLocationProviders(), []);
    await adb.toggleGPSLocationProvider(true);
  },
  "switches animations off and on": async () => {
    // It asks for "0.0", and settings give back what was put.
    await adb.setAnimationScale("0.0");
    equal(await adb.isAnimationOn(), false);
    await adb.setAnimationScale(1);
    equal(await adb.isAnimationOn(), true);
  },
  "lets packages run while the phone idles": async () => {
    must(await adb.addToDeviceIdleWhitelist(SETTINGS), "not added");
    must((await adb.getDeviceIdleWhitelist()).some((row) => row.startsWith(`user,${SETTINGS},`)),
      "not listed");
  },
  "sets the policy of hidden interfaces and a proxy": async () => {
    await adb.setHiddenApiPolicy("1");
    await adb.setDefaultHiddenApiPolicy();
    await adb.setHttpProxy("127.0.0.1", 8888);
    equal(await adb.getSetting("global", "http_proxy"), "127.0.0.1:8888");
    await adb.deleteHttpProxy();
  },
  "pushes, lists, sizes, pulls and removes files": async () => {
    const here = join(folder, "appium.txt");
    writeFileSync(here, "hello");
    await adb.push(here, "/sdcard/Download/deep/er/appium.txt");
    equal(await adb.ls("/sdcard/Download/deep/er"), ["appium.txt"]);
    equal(await adb.fileSize("/sdcard/Download/deep/er/appium.txt"), 5);
    await adb.pull("/sdcard/Download/deep/er/appium.txt", here);
    equal(readFileSync(here, "utf8"), "hello");
    await adb.rimraf("/sdcard/Download/deep");
    equal(await adb.fileExists("/sdcard/Download/deep"), false);
  },
  "starts an app and waits for its activity": async () => {
    await adb.startApp({
      pkg: SETTINGS, activity: ".Settings", waitPkg: SETTINGS, waitActivity: ".Settings",
    });
    equal(await adb.getFocusedPackageAndActivity(),
      { appPackage: SETTINGS, appActivity: ".Settings" });
  },
  "resolves what an app launches, and brings it to the front": async () => {
    equal(await adb.resolveLaunchableActivity(SETTINGS), `${SETTINGS}/.Settings`);
    await adb.activateApp("com.android.calculator2");
    equal((await adb.getFocusedPackageAndActivity()).appPackage, "com.android.calculator2");
  },
  "opens a page, stops an app and clears it": async () => {
    await adb.startUri("https://example.com", "com.android.browser");
    await adb.forceStop("com.android.browser");
    equal(await adb.processExists("com.android.browser"), false);
    await adb.stopAndClear("com.android.calculator2");
  },
  "reads package facts": async () => {
    const info = await adb.getPackageInfo(SETTINGS);
    equal([info.isInstalled, info.versionName], [true, "14"]);
    equal((await adb.getPackageInfo("no.such")).isInstalled, false);
    equal(await adb.isAppInstalled("no.such"), false);
  },
  "grants and revokes permissions": async () => {
    const contacts = "android.permission.READ_CONTACTS";
    await adb.grantPermissions(MESSAGES, [contacts]);
    must((await adb.getGrantedPermissions(MESSAGES)).includes(contacts), "not granted");
    await adb.revokePermission(MESSAGES, contacts);
    must((await adb.getDeniedPermissions(MESSAGES)).includes(contacts), "not denied");
  },
  "changes the input method": async () => {
    await adb.enableIME(KEYBOARD);
    await adb.setIME(KEYBOARD);
    equal(await adb.defaultIME(), KEYBOARD);
    await adb.disableIME(KEYBOARD);
    must(!(await adb.enabledIMEs()).includes(KEYBOARD), "still enabled");
  },
  "types, presses keys and hides the keyboard": async () => {
    await adb.inputText("abc def");
    await adb.clearTextField(3);
    await adb.goToHome();
    equal((await adb.isSoftKeyboardPresent()).isKeyboardShown, false);
  },
  "locks the screen, wakes it and dismisses the lock": async () => {
    equal(await adb.isLockEnabled(), true);
    await adb.lock();
    equal(await adb.isScreenLocked(), true);
    await adb.dismissKeyguard();
    equal(await adb.isScreenLocked(), false);
  },
  "sets a PIN": async () => {
    await adb.setLockCredential("pin", "1234");
    equal(await adb.verifyLockCredential("1234"), true);
    await fails(() => adb.verifyLockCredential("4321"), /didn't match/);
    await adb.lock();
    await adb.dismissKeyguard();
    equal(await adb.isScreenLocked(), true);
    await adb.shell(["input", "text", "1234"]);
    await adb.keyevent(66);
    equal(await adb.isScreenLocked(), false);
    await adb.clearLockCredential("1234");
  },
  "reads the log": async () => {
    await adb.startLogcat();
    await adb.shell(["log", "-t", "appium", "seen"]);
    const end = Date.now() + 20_000;
    const seen = () => adb.logcat.getAllLogs().some((one) => one.message.includes("seen"));
    while (!seen() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
    must(seen(), "not in the log");
    await adb.stopLogcat();
  },
  "forwards, reverses and lists ports": async () => {
    await adb.forwardPort(27_301, 9999);
    must((await adb.getForwardList()).some((row) => row.includes("tcp:9999")), "no forward");
    await adb.removePortForward(27_301);
    await adb.reversePort(27_302, 27_303);
    must((await adb.getReverseList()).some((row) => row.includes("tcp:27302")), "no reverse");
    await adb.removePortReverse(27_302);
    must(Array.isArray(await adb.listPorts()), "no ports");
  },
  "takes a screenshot": async () => {
    equal((await adb.takeScreenshot()).subarray(1, 4).toString(), "PNG");
  },
  "lists what a system process runs": async () => {
    equal(await adb.processExists("com.android.systemui"), true);
    must((await adb.listFeatures()).includes("shell_v2"), "features");
    equal(await adb.ping(), true);
  },
});

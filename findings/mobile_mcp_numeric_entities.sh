#!/bin/sh
# mobile-mcp over adb, and texts of several lines or with an emoji.
#
# `uiautomator dump` writes a line break inside a text as `&#10;` and an emoji as `&#128512;`: XML's
# character references. Seen: the model reads the references themselves, and blanks at a text's ends are
# gone, because fast-xml-parser resolves only the five named entities and trims attributes unless told
# otherwise. (With MOBILEMCP_LEGACY_ROBOT=1; its other way does not parse the dump in JavaScript.)
# Shape of the dump: AOSP, cmds/uiautomator AccessibilityNodeInfoDumper and KXmlSerializer.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" @mobilenext/mobile-mcp@1.0.4
mkdir -p "$folder/sdk/platform-tools"
cat > "$folder/sdk/platform-tools/adb" <<'ADB'
#!/bin/sh
case "$*" in
*"uiautomator dump"*)
    cat <<'XML'
<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0"><node index="0" text="" resource-id="" class="android.widget.FrameLayout" package="com.example.chat" content-desc="" checkable="false" bounds="[0,0][1080,2400]"><node index="0" text="Meet at 6&#10;Gate B &#128512;" resource-id="" class="android.widget.TextView" package="com.example.chat" content-desc="" checkable="false" bounds="[0,100][1080,260]" /><node index="1" text="  12" resource-id="" class="android.widget.TextView" package="com.example.chat" content-desc="" checkable="false" bounds="[0,260][1080,320]" /></node></hierarchy>UI hierchary dumped to: /dev/tty
XML
    ;;
esac
ADB
chmod +x "$folder/sdk/platform-tools/adb"
cat > "$folder/ask.cjs" <<'NODE'
const base = `${__dirname}/node_modules`;
const { AndroidRobot } = require(`${base}/@mobilenext/mobile-mcp/lib/android.js`);
const of = (name) => require(`${base}/${name}/package.json`).version;
console.log("mobile-mcp", of("@mobilenext/mobile-mcp"), "fast-xml-parser", of("fast-xml-parser"));
new AndroidRobot("serial").getElementsOnScreen().then((elements) => {
  const texts = elements.map((one) => one.text);
  console.log(JSON.stringify(texts));
  process.exit(texts[0] === "Meet at 6&#10;Gate B &#128512;" && texts[1] === "12" ? 0 : 1);
});
NODE
ANDROID_HOME="$folder/sdk" node "$folder/ask.cjs"

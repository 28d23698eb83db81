#!/bin/sh
# phone-harness and the lock of phones that it did not have before it.
#
# It asks `dumpsys window | grep -m1 isKeyguardShowing`. Two phones that are on and unlocked:
# Android 10 does not print that word (it came with 11), grep ends with 1, and the phone counts as
# "no-adb". Android 13 keeps the dump of the last app that did not respond for two hours and prints it
# first; if the phone was locked then, it counts as "locked".
# Sources: AOSP wm/DisplayPolicy.dump (10 to 14), WindowManagerService.doDump and saveANRStateLocked.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet phone-harness==0.3.2
cat > "$folder/adb" <<'ADB'
#!/bin/sh
# Runs what would run on a phone, with dumpsys as a file's content.
case "$1" in
devices) printf 'List of devices attached\nSERIAL0001\tdevice\n\n'; exit 0 ;;
shell) shift ;;
*) exit 0 ;;
esac
PATH="$HERE:$PATH" exec sh -c "$*"
ADB
cat > "$folder/dumpsys" <<'DUMPSYS'
#!/bin/sh
cat "$HERE/$ANDROID/$1"
DUMPSYS
chmod +x "$folder/adb" "$folder/dumpsys"
mkdir "$folder/10" "$folder/13"
printf 'Power Manager State:\n  mWakefulness=Awake\n' | tee "$folder/10/power" > "$folder/13/power"
cat > "$folder/10/window" <<'TEXT'
WINDOW MANAGER LAST ANR (dumpsys window lastanr)
  <no ANR has occurred since boot>

WINDOW MANAGER POLICY STATE (dumpsys window policy)
    mKeyguardOccluded=false mKeyguardOccludedChanged=false mPendingKeyguardOccluded=false
    KeyguardServiceDelegate
      showing=false
      showingAndNotOccluded=false
      inputRestricted=false
TEXT
cat > "$folder/13/window" <<'TEXT'
WINDOW MANAGER LAST ANR (dumpsys window lastanr)
  ANR time: Nov 28, 2026 8:00:00 AM
  Application at fault: com.example.mail
  Reason: Input dispatching timed out

Last ANR continued
WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)
  Display: mDisplayId=0 rootTasks=5
    DisplayPolicy
      isKeyguardShowing=true

WINDOW MANAGER POLICY STATE (dumpsys window policy)
    KeyguardServiceDelegate
      showing=false
WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)
  Display: mDisplayId=0 rootTasks=7
    DisplayPolicy
      isKeyguardShowing=false
TEXT
changed=0
echo "phone-harness 0.3.2"
for row in "10 no-adb" "13 locked"; do
    set -- $row
    seen=$(env -u ANDROID_SERIAL HERE="$folder" ANDROID="$1" ANDROID_SERIAL=SERIAL0001 \
        PHONE_HARNESS_PLATFORM=android PHONE_HARNESS_ADB="$folder/adb" \
        PHONE_HARNESS_HOME="$folder/home" PHONE_HARNESS_TELEMETRY=0 PHONE_HARNESS_NO_UPDATE_CHECK=1 \
        "$folder/env/bin/python" -c "from phone_harness import helpers; print(helpers.connection_state())")
    echo "Android $1, awake and unlocked: $seen"
    [ "$seen" = "$2" ] || changed=1
done
exit $changed

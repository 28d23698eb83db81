#!/bin/sh
# androidtv (Home Assistant's client) and what a television of today plays.
#
# `dumpsys media_session` printed `state=PlaybackState {state=3, …`; newer Androids (seen on 14) print
# the name before the number: `{state=PLAYING(3), …`. Expected: playing, or unknown. Seen: the state is
# not read, and for YouTube, Netflix and VLC nothing read means "idle" while the film runs.
# Shape: public dumps of televisions; the figures are made.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet androidtv==0.0.75
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys
from importlib.metadata import version

from androidtv.androidtv.androidtv_sync import AndroidTVSync
from androidtv.constants import APP_YOUTUBE

print("androidtv", version("androidtv"))
seen = []
for state in ("3", "PLAYING(3)"):
    television = AndroidTVSync("127.0.0.1")
    app, number = television._current_app_media_session_state(
        f"{APP_YOUTUBE}\n      state=PlaybackState {{state={state}, position=29918, buffered position=45000, "
        "speed=1.0, updated=53120411, actions=382, custom actions=[], active item id=-1, error=null}"
    )
    state_of_all = television._update(True, True, "idle", 3, app, number, "hdmi", False, 10, [app], None)[0]
    seen.append((number, state_of_all))
    print(f"  state={state} -> {number}: {state_of_all}")
sys.exit(seen != [(3, "playing"), (None, "idle")])
PYTHON

#!/bin/sh
# OpenEnv's server over HTTP, and an observation's metadata.
#
# Its own description says: call /reset, then /step again and again, and /state at any time. Expected: one
# phone, as with its client, which uses a WebSocket. Seen: every request gets a new environment, so each step
# is the first one, of a phone that was never reset, and an episode never ends; no error, no warning.
# And what an environment puts into an observation's `metadata` ("Additional metadata for the observation")
# reaches neither kind of caller.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet openenv-core==0.3.0 fastapi==0.165.0 uvicorn==0.54.0 websockets==17.4
"$folder/env/bin/python" - 2> "$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import json
import socket
import sys
import threading
import time
import urllib.request
from importlib.metadata import version

import uvicorn
from openenv.core import GenericEnvClient
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app


class Tap(Action):
    x: int
    y: int


class Screen(Observation):
    taps: int


class Phone(Environment):
    """Counts taps; an episode ends with the third."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.now = State(episode_id="never reset")

    def reset(self, seed=None, episode_id=None, **_):
        self.now = State(episode_id=episode_id)
        return self.screen()

    def step(self, action, timeout_s=None, **_):
        self.now.step_count += 1
        return self.screen()

    def screen(self):
        taps = self.now.step_count
        return Screen(taps=taps, done=taps >= 3, metadata={"app": "clock"})

    @property
    def state(self):
        return self.now


listener = socket.create_server(("127.0.0.1", 0))
address = f"http://127.0.0.1:{listener.getsockname()[1]}"
server = uvicorn.Server(uvicorn.Config(create_fastapi_app(Phone, Tap, Screen), log_level="error"))
threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
while not server.started:
    time.sleep(0.05)


def http(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


print("openenv-core", version("openenv-core"))
tap = {"x": 540, "y": 1200}
answers = [http("/reset", {"episode_id": "one"})] + [http("/step", {"action": tap}) for _ in range(3)]
over_http = [(one["observation"], one["done"]) for one in answers]
state = http("/state")
print(f"  over HTTP: {over_http}, then {state}")
with GenericEnvClient(base_url=address).sync() as client:
    results = [client.reset(episode_id="two")] + [client.step(tap) for _ in range(3)]
over_socket = [(one.observation, one.done) for one in results]
print(f"  over a WebSocket: {over_socket}")
server.should_exit = True
same = over_http == [({"taps": taps}, False) for taps in (0, 1, 1, 1)]
same &= state["episode_id"] == "never reset"
sys.exit(not (same and over_socket == [({"taps": taps}, taps == 3) for taps in range(4)]))
PYTHON

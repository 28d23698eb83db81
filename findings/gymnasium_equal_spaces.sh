#!/bin/sh
# gymnasium and two spaces of actions that are equal.
#
# A phone's action is a Dict of what to do and of the app. Expected: equal spaces flatten an action to the
# same vector. Seen: Dict({...}) puts its keys in the alphabet's order and Dict(type=..., app=...) keeps the
# writer's; the two are `==`, and a vector that one of them wrote is another action for the other, a valid
# one: "open the camera" is read as "close the clock". Samples of one seed differ too.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet gymnasium==1.4.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from gymnasium.spaces import Dict, Discrete, flatten, unflatten

TYPES, APPS = ("open", "close"), ("clock", "camera")
written = Dict({"type": Discrete(2), "app": Discrete(2)})
named = Dict(type=Discrete(2), app=Discrete(2))


def words(action):
    return f"{TYPES[action['type']]} the {APPS[action['app']]}"


def sample(space):
    space.seed(7)
    return [words(space.sample()) for _ in range(8)]


action = {"type": TYPES.index("open"), "app": APPS.index("camera")}
vectors = [flatten(space, action).tolist() for space in (written, named)]
read = words(unflatten(named, flatten(written, action)))
print("gymnasium", version("gymnasium"))
print(f"  {written}\n  {named}\n  equal: {written == named}")
print(f"  {words(action)}: {vectors[0]} and {vectors[1]}")
print(f"  written by the first, read by the second: {read}")
differ = sample(written) != sample(named)
print(f"  samples of one seed differ: {differ}")
sys.exit(not (written == named and vectors[0] != vectors[1] and read == "close the clock" and differ))
PYTHON

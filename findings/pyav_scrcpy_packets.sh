#!/bin/sh
# PyAV and H.264 as scrcpy frames it: a packet of parameters, then one packet a picture.
#
# scrcpy's server sends the encoder's parameters (SPS, PPS) as a packet of their own, and again after
# each rotation. Seen: decode() of that packet raises InvalidDataError although the decoder keeps it:
# the pictures that follow are decoded. Leaving it out makes every picture invalid. parse() gives a
# picture back only when the next one begins, so a live view that uses it is one picture late.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet av==18.1.0 numpy==2.3.5
"$folder/env/bin/python" - <<'PYTHON'
import re
import sys
from fractions import Fraction
from importlib.metadata import version

import av
import numpy as np

print("av", version("av"))


def stream():
    """Return the parameters and the pictures of a stream without delay, as a phone's encoder makes it."""
    encoder = av.CodecContext.create("libx264", "w")
    encoder.width, encoder.height, encoder.pix_fmt = 64, 64, "yuv420p"
    encoder.time_base = Fraction(1, 30)
    encoder.options = {"tune": "zerolatency", "preset": "ultrafast"}
    packets = []
    for at in range(6):
        picture = np.full((64, 64, 3), at * 40, dtype=np.uint8)
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts = at
        packets += [bytes(one) for one in encoder.encode(frame)]
    units = [one for one in re.split(b"\0\0\0\1|\0\0\1", packets[0]) if one]
    starts = {True: b"", False: b""}
    for unit in units:
        starts[unit[0] & 31 in (7, 8)] += b"\0\0\0\1" + unit
    return starts[True], [starts[False], *packets[1:]]


def decoded(decoder, data):
    try:
        return len(decoder.decode(av.Packet(data)))
    except av.error.InvalidDataError:
        return "InvalidDataError"


def decoder():
    return av.CodecContext.create("h264", "r")


parameters, pictures = stream()
apart = decoder()
seen = {
    "parameters apart": [decoded(apart, one) for one in (parameters, *pictures)],
    "no parameters": [decoded(one, pictures[1]) for one in [decoder()]],
    "joined to the first picture": [],
}
joined = decoder()
for at, one in enumerate(pictures):
    seen["joined to the first picture"].append(decoded(joined, (parameters if at == 0 else b"") + one))
parser = decoder()
seen["parse()"] = [len(parser.parse((parameters if at == 0 else b"") + one)) for at, one in enumerate(pictures)]
for name, counts in seen.items():
    print(f"{name}: {counts}")
expected = {
    "parameters apart": ["InvalidDataError", 1, 1, 1, 1, 1, 1],
    "no parameters": ["InvalidDataError"],
    "joined to the first picture": [1, 1, 1, 1, 1, 1],
    "parse()": [0, 1, 1, 1, 1, 1],
}
sys.exit(seen != expected)
PYTHON

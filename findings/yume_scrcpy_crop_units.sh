#!/bin/sh
# @yume-chan/scrcpy and how much of a picture is padding.
#
# A picture of 1078 columns is encoded as 1088. h264ParseConfiguration and h265ParseConfiguration give the
# same fields. Expected: cropRight is 10 in both. Seen: 10 for H.264, 5 for H.265, whose offsets stay in
# chroma samples as the stream has them; croppedWidth is right in both, so nothing shows it until a
# renderer cuts by cropRight. Units: ITU-T H.265 7.4.3.2.1 (SubWidthC); the streams are made here.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet av==18.1.0 numpy==2.3.5
npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$folder" @yume-chan/scrcpy@2.3.0
"$folder/env/bin/python" - "$folder" <<'PYTHON'
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

QUIET = {"libx264": {}, "libx265": {"x265-params": "log-level=none"}}
for codec, options in QUIET.items():
    encoder = av.CodecContext.create(codec, "w")
    encoder.width, encoder.height, encoder.pix_fmt, encoder.time_base = 1078, 2102, "yuv420p", Fraction(1, 30)
    encoder.options = {"tune": "zerolatency", "preset": "ultrafast", **options}
    frame = av.VideoFrame.from_ndarray(np.zeros((2102, 1078, 3), np.uint8), format="rgb24")
    frame.pts = 0
    packets = [*encoder.encode(frame), *encoder.encode(None)]
    (Path(sys.argv[1]) / codec).write_bytes(bytes(packets[0]))
PYTHON
cat > "$folder/ask.mjs" <<'NODE'
import { readFileSync } from "fs";
import { h264ParseConfiguration, h265ParseConfiguration } from "@yume-chan/scrcpy";
const here = (name) => readFileSync(new URL(name, import.meta.url));
console.log("@yume-chan/scrcpy", JSON.parse(here("node_modules/@yume-chan/scrcpy/package.json")).version);
const seen = [];
for (const [codec, parse] of [["libx264", h264ParseConfiguration], ["libx265", h265ParseConfiguration]]) {
  const of = parse(new Uint8Array(here(codec)));
  seen.push([of.encodedWidth, of.cropRight, of.croppedWidth, of.encodedHeight, of.cropBottom, of.croppedHeight]);
  console.log(" ", codec, ...seen.at(-1));
}
process.exit(JSON.stringify(seen) === "[[1088,10,1078,2112,10,2102],[1088,5,1078,2112,5,2102]]" ? 0 : 1);
NODE
node "$folder/ask.mjs"

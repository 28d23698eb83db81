"""What it costs to hand one frame to another process: base64 JPEG against shared memory.

The peer is what OpenEnv's android_env does for each observation: JPEG of quality 85, base64, a JSON
string, and all of it back again. Ours is a write into shared memory and a map of it; or only the
map, when the frame is drawn in its place there: then the drawing, which the peer has as well, is
not counted.
"""

from __future__ import annotations

import base64
import io
import json
import statistics
import time

from agent.devices.shared_memory import FrameReader, FrameWriter

WIDTH_PX, HEIGHT_PX = 1080, 2400
ROUNDS = 40


def main() -> None:
    """Print the median of each step in milliseconds, and the ratio of what a reader waits for."""
    import numpy as np
    from PIL import Image

    dice = np.random.default_rng(1)
    # Blocks of colour with a little noise: about what a screen is to a JPEG encoder.
    blocks = dice.integers(0, 255, (HEIGHT_PX // 40, WIDTH_PX // 40, 3), np.uint8)
    frame = np.repeat(np.repeat(blocks, 40, axis=0), 40, axis=1)
    steps: dict[str, list[float]] = {
        "encode": [],
        "decode": [],
        "write": [],
        "map": [],
        "publish": [],
    }
    with FrameWriter(WIDTH_PX, HEIGHT_PX) as writer, FrameReader(writer.url) as reader:
        for number in range(ROUNDS):
            started = time.perf_counter()
            sink = io.BytesIO()
            Image.fromarray(frame).save(sink, "JPEG", quality=85)
            text = json.dumps({"screen_image": base64.b64encode(sink.getvalue()).decode()})
            encoded = time.perf_counter()
            data = base64.b64decode(json.loads(text)["screen_image"])
            there = np.asarray(Image.open(io.BytesIO(data)))
            decoded = time.perf_counter()
            writer.write(frame, captured_ms=number)
            written = time.perf_counter()
            mapped = reader.newest()
            assert mapped is not None
            assert mapped.pixels.shape == there.shape
            assert reader.is_whole(mapped)
            done = time.perf_counter()
            with writer.filling(WIDTH_PX, HEIGHT_PX, captured_ms=number) as place:
                drawing = time.perf_counter()
                place[...] = frame
                drawn = time.perf_counter()
            published = time.perf_counter()
            for name, seconds in (
                ("encode", encoded - started),
                ("decode", decoded - encoded),
                ("write", written - decoded),
                ("map", done - written),
                ("publish", published - done - (drawn - drawing)),
            ):
                steps[name].append(seconds * 1000)
    p50 = {name: statistics.median(taken) for name, taken in steps.items()}
    peer, ours = p50["encode"] + p50["decode"], p50["write"] + p50["map"]
    print(f"| a frame of {WIDTH_PX}×{HEIGHT_PX} by | give ms | take ms | both ms | times ours |")
    print("|---|---|---|---|---|")
    print(f"| base64 JPEG in JSON | {p50['encode']:.2f} | {p50['decode']:.2f} | {peer:.2f} |"
          f" {peer / ours:.0f} |")  # fmt: skip
    print(f"| shared memory | {p50['write']:.2f} | {p50['map']:.4f} | {ours:.2f} | 1 |")
    placed = p50["publish"] + p50["map"]
    print(
        f"| shared memory, drawn in its place | {p50['publish']:.3f} | {p50['map']:.4f} |"
        f" {placed:.3f} | {placed / ours:.2f} |"
    )
    print(f"\nDrawn in its place: {peer / placed:.0f} times less than JPEG")
    print(f"Taking alone: {p50['decode'] / p50['map']:.0f} times\n")

"""What it costs to hand one frame to another process: base64 JPEG against shared memory.

Timed is what stands between a frame that has been drawn and its pixels as an array of the reader.
The peer is what OpenEnv's android_env does for each observation: JPEG of quality 85, base64 and a
JSON string to give it; JSON, base64 and JPEG decoding to take it. Ours is to say that the frame is
whole and to map it, when it was drawn in its place in shared memory; and the copy there as well,
when it was drawn elsewhere.
"""

import base64
import io
import json
import statistics
import time

from agent.devices.frames.shared_memory import FrameReader, FrameWriter

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
    peer = p50["encode"] + p50["decode"]
    rows = {
        "base64 JPEG in JSON": (p50["encode"], p50["decode"]),
        "shared memory, drawn in its place": (p50["publish"], p50["map"]),
        "shared memory, copied in": (p50["write"], p50["map"]),
    }
    print(f"| a frame of {WIDTH_PX}×{HEIGHT_PX} by | give ms | take ms | both ms | JPEG is × |")
    print("|---|---|---|---|---|")
    for name, (give, take) in rows.items():
        both = give + take
        print(f"| {name} | {give:.3f} | {take:.3f} | {both:.3f} | {peer / both:.0f} |")
    print(f"\nFor the reader alone: JPEG takes {p50['decode'] / p50['map']:.0f} times as long.\n")

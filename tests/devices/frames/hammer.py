"""Write frames into shared memory as fast as it goes, in a process of its own, until stdin ends.

Every frame is of one colour, so a reader sees at once whether it is whole. Prints the address.
"""

import sys
import threading

import numpy as np

from agent.devices.frames.shared_memory import FrameWriter


def main() -> None:
    width, height = int(sys.argv[1]), int(sys.argv[2])
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    with FrameWriter(width, height) as writer:
        print(writer.url, flush=True)
        threading.Thread(target=wait, daemon=True).start()
        number = 0
        while not ended.is_set():
            number += 1
            # Turned now and then, as a phone is.
            shape = (width, height) if number % 64 < 8 else (height, width)
            frame = np.full((*shape, 3), number % 251, np.uint8)
            writer.write(frame, captured_ms=number)


if __name__ == "__main__":
    main()

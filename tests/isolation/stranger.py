"""What a second user tries: `python3 stranger.py JSON`; prints what opened.

Standard library only: it runs in the system's own Python.
"""

import json
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path


def main() -> None:
    """Try all that is named, and print by kind what was reached."""
    told = json.loads(sys.argv[1])
    found: dict[str, list[str]] = {"uid": [str(os.geteuid())], "tried": []}
    for kind in ("files", "sockets", "processes", "memory"):
        found[kind] = []
    places = {Path(path) for path in told["paths"]} | set(Path(told["data"]).rglob("*"))
    for place in sorted(places):
        if not place.is_dir():
            kind = "memory" if str(place).startswith("/dev/shm") else "files"
            _try_file(place, kind, found)
    for name in told["sockets"]:
        _try_socket(name, found)
    for pid in told["pids"]:
        for part in ("environ", "mem", "maps", "io", "stack"):
            _try_file(Path(f"/proc/{pid}/{part}"), "processes", found)
        with suppress(OSError):
            os.kill(pid, 0)
            found["processes"].append(f"signal {pid}")
        with suppress(OSError):
            found["processes"] += [str(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    sys.stdout.write(json.dumps(found))


def _try_file(place: Path, kind: str, found: dict[str, list[str]]) -> None:
    for mode in ("rb", "r+b"):
        found["tried"].append(f"{mode} {place}")
        with suppress(OSError), place.open(mode) as opened:
            if kind != "processes" or opened.read(1):
                found[kind].append(f"{mode} {place}")


def _try_socket(name: str, found: dict[str, list[str]]) -> None:
    found["tried"].append(f"connect {name}")
    address = "\0" + name[1:] if name.startswith("@") else name
    with suppress(OSError), socket.socket(socket.AF_UNIX) as one:
        one.settimeout(5)
        one.connect(address)
        one.sendall(b'{"id":1,"method":"ping"}\n')
        if one.recv(100):
            found["sockets"].append(name)


if __name__ == "__main__":
    main()

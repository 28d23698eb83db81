"""Connect to a core's socket and make calls: what an attack runs, as light as it can be.

Standard library alone, as `python -I -S hand.py SOCKET CALLS OUT [FD]`. CALLS is a file with a list
of `[method, params]`; OUT gets what each came to. FD: a connection that somebody else has opened.
"""

# Without pathlib, which takes longer to import than all that is done here.
# ruff: noqa: PTH104, PTH119, PTH120, PTH123

import json
import os
import socket
import sys


def connected(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(20)
    # A path may be longer than an address holds.
    os.chdir(os.path.dirname(path))
    made.connect(os.path.basename(path))
    return made


def call_all(connection: socket.socket, calls: list[list[object]]) -> list[dict[str, object]]:
    stream = connection.makefile("rwb")
    found = []
    for number, (method, params) in enumerate(calls):
        stream.write(json.dumps({"id": number, "method": method, "params": params}).encode())
        stream.write(b"\n")
        stream.flush()
        line = stream.readline()
        found.append(json.loads(line) if line else {"gone": True})
    return found


def keep(out: str, found: object) -> None:
    with open(out + ".part", "w") as file:
        json.dump(found, file)
    os.rename(out + ".part", out)


def main() -> None:
    path, calls, out, *given = sys.argv[1:]
    with open(calls) as file:
        wanted = json.load(file)
    try:
        connection = socket.socket(fileno=int(given[0])) if given else connected(path)
        connection.setblocking(True)
        found = call_all(connection, wanted)
    except OSError as error:
        found = [{"gone": str(error)}]
    keep(out, found)


if __name__ == "__main__":
    main()

#!/bin/sh
# python-ntfy and the buttons of a notification.
#
# ntfy reads buttons from one header: fields with `,` between them, buttons with `;`, and a value that has
# one of the two stands in quotes. Seen: nothing is quoted, so the label "Yes, once" is sent as the label
# "Yes" and one field more, and the body "yes; go on" as a body and one button more; two headers of a
# button stand together without a comma, as one value; a broadcast without extras, which is its default, is
# an empty button, and with extras the first one is part of the intent's name. The client's to_dict() is
# right in each case, and send() does not use it.
# Format: ntfy, server/actions.go, and its documentation, "Action buttons".
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet python-ntfy==0.11.4
"$folder/env/bin/python" - <<'PYTHON'
import contextlib
import io
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version

from python_ntfy import BroadcastAction, HttpAction, NtfyClient, ViewAction

URL = "https://example.com/1"
HTTP = f"action=http, label=Yes, url={URL}, method=POST, clear=False"
BUTTONS = {
    ViewAction("Yes, once", URL): f"action=view, label=Yes, once, url={URL}, clear=False",
    HttpAction("Yes", URL, headers={"X-Phone": "7", "X-Step": "3"}): f"{HTTP}, headers.X-Phone=7headers.X-Step=3",
    HttpAction("Yes", URL, body="yes; go on"): f"{HTTP}, body=yes; go on",
    BroadcastAction("Yes", extras={"phone": "7"}): (
        "action=broadcast, label=Yes, url=broadcast, clear=False, intent=io.heckel.ntfy.USER_ACTIONextras.phone=7"
    ),
    BroadcastAction("Yes"): "",
}
headers = []


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        headers.append(self.headers["Actions"])
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = NtfyClient("phones", server=f"http://127.0.0.1:{server.server_port}")
print("python-ntfy", version("python-ntfy"))
for button in BUTTONS:
    with contextlib.redirect_stdout(io.StringIO()):  # The client prints some of them.
        client.send("Allow?", actions=[button])
    print(f"  {button.to_dict()}\n    -> {headers[-1]!r}")
sys.exit(headers != list(BUTTONS.values()))
PYTHON

#!/bin/sh
# The anthropic SDK and a call's JSON that is wrong in the middle.
#
# Servers that speak the Messages wire for local models stream what the model wrote: quotes inside a text
# that are not escaped, `540px`, two objects in a row. Expected: an error, as for a line break inside a
# text. Seen: the call's input is what stands before the mistake, with stop_reason "tool_use" and no word:
# {"text": "tap "OK" now", "enter": true} becomes {"text": "tap "}. (jiter's partial mode, which the SDK
# uses for every piece and for the whole, takes a mistake for the end of what has arrived.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet anthropic==2.14.0 jiter==0.19.0
"$folder/env/bin/python" - <<'PYTHON'
import http.server
import json
import sys
import threading
from importlib.metadata import version

import anthropic


class Server(http.server.BaseHTTPRequestHandler):
    written = ""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        usage = {"input_tokens": 9, "output_tokens": 9}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "local", "content": []}
        call = {"type": "tool_use", "id": "t", "name": "type_text", "input": {}}
        for event in (
            {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": call},
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "input_json_delta", "partial_json": Server.written}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
            {"type": "message_stop"},
        ):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        """Say nothing."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = anthropic.Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}", max_retries=0)


def input_of(written):
    Server.written = written
    question = {"role": "user", "content": "Write."}
    try:
        with client.messages.stream(model="local", max_tokens=99, messages=[question]) as stream:
            message = stream.get_final_message()
    except ValueError:
        return "ValueError"
    return message.content[0].input, message.stop_reason


SEEN = {
    '{"text": "now", "enter": true}': ({"text": "now", "enter": True}, "tool_use"),
    '{"text": "tap "OK" now", "enter": true}': ({"text": "tap "}, "tool_use"),
    '{"x": 540px, "y": 1200}': ({"x": 540}, "tool_use"),
    '{"text": "one"}{"text": "two"}': ({"text": "one"}, "tool_use"),
    '{"text": "one\ntwo"}': "ValueError",
}
print("anthropic", version("anthropic"), "jiter", version("jiter"))
changed = False
for written, expected in SEEN.items():
    seen = input_of(written)
    print(f"  {written!r} -> {seen}")
    changed |= seen != expected
server.shutdown()
sys.exit(changed)
PYTHON

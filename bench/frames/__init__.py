"""Live pictures in a terminal: what they cost, beside five libraries that draw pictures there.

The peers are installed into an environment of the benchmark's own (outside the checkout, kept for
the next run), and everything is measured with that environment's interpreter: the same Python, the
same NumPy, the same frames, in turn. Frames are drawn scenes that went through x264, so that they
carry a codec's noise.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from platformdirs import user_cache_path

PEERS = (
    "rich-pixels==3.0.1",
    "textual-image==0.12.0",
    "term-image==0.7.2",
    "climage==0.2.2",
    "chafa.py==1.2.0",
)
PARTS = ("encode", "stills", "app", "wall", "decode", "slow", "replay")
ROOT = Path(__file__).parents[2]


def main(options: list[str] | None = None) -> None:
    """Install the peers if need be, and measure all parts, or those that `--only` names."""
    parser = argparse.ArgumentParser(prog="python -m bench frames")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parts: list[str] = parser.parse_args(options or []).only
    if parts == ["replay"]:
        _replay()
        return
    subprocess.run(
        [_environment(), "-m", "bench.frames.measure", *parts],
        cwd=ROOT,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "virtual_phone" / "src"))),
            "PYTHONWARNINGS": "ignore",
        },
    )
    if "replay" in parts:
        _replay()


def _environment() -> str:
    place = user_cache_path("switchboard") / "bench-frames"
    python = place / "bin" / "python"
    uv = str(Path(sys.executable).parent / "uv")
    if not python.exists():
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(place)], check=True)
    kept = [f"{name}=={_version(name)}" for name in ("textual", "numpy", "av", "msgspec", "rich")]
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", str(python), *PEERS, *kept], check=True
    )
    return str(python)


def _version(name: str) -> str:
    from importlib.metadata import version

    return version(name)


def _replay() -> None:
    test = "tests/widgets/test_direct_route.py"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", test], cwd=ROOT, check=False)
    print(f"\nDirect route, replayed: {'0 wrong cells' if done.returncode == 0 else 'WRONG CELLS'}")

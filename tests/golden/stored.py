"""What is stored of the golden set: a packed text for each part."""

import difflib
import gzip
from pathlib import Path

STORED = Path(__file__).parent.parent / "data" / "golden"
PARTS = ("schema", "openapi", "sentences", "screens", "exercises", "demo")


def kept(part: str, folder: Path = STORED) -> str:
    """Return what is stored of a part; nothing where it was never stored."""
    path = folder / f"{part}.gz"
    return gzip.decompress(path.read_bytes()).decode() if path.exists() else ""


def keep(part: str, drawn: str, folder: Path = STORED) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part}.gz").write_bytes(gzip.compress(drawn.encode(), mtime=0))


def difference(part: str, drawn: str, folder: Path = STORED) -> list[str]:
    """Return what a part says otherwise than what is stored of it, as a unified diff."""
    before, now = kept(part, folder).splitlines(), drawn.splitlines()
    names = (f"{part}, stored", f"{part}, now")
    return list(difflib.unified_diff(before, now, *names, lineterm="", n=1))

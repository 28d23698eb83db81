"""A terminal that draws images: text by pyte, kitty's protocol and sixel by decoders of its own.

Made from the protocols' own words and nothing of ours, so that what it shows is what a terminal
would. A cell is 8 × 16 pixels. Not a test.
"""

import re
from base64 import b64decode
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyte

CELL = (8, 16)
Picture = npt.NDArray[np.uint8]
_STRANGE = re.compile(rb"\x1b\[[<>=?][0-9;]*[u$pq]+")
_CODES = re.compile(rb"\x1b_(.*?)\x1b\\|\x1bP(.*?)\x1b\\|\x1b\[(\?1;1;0S|c)", re.DOTALL)
_TORN = re.compile(rb"\x1b(?:[_P].*|\[[\d;?<>=$]*)?\Z", re.DOTALL)


class ImageTerminal:
    """What a terminal of these many cells shows.

    Args:
        columns, rows: its size.
        attributes: what it answers to DA1.
        reads_memory: whether it reads shared memory of this machine.
    """

    def __init__(
        self,
        columns: int,
        rows: int,
        *,
        attributes: str = "62;22",
        reads_memory: bool = True,
        paints_all: bool = False,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.attributes = attributes
        self.reads_memory = reads_memory
        self.images: dict[int, Picture] = {}
        self.places: dict[tuple[int, int], tuple[int, int, int, int, Picture]] = {}
        """By image and place: column, row, columns, rows and the pixels, scaled to them."""
        self._paints_all = paints_all
        """Whether what a sixel image leaves out is painted as well, as by Konsole."""
        self.sixel: dict[tuple[int, int], Picture] = {}
        """What is left of sixel images, by row and column; text wipes it out."""
        self.answers = b""
        self.asked: list[str] = []
        self._rest = b""

    @property
    def lines(self) -> list[str]:
        return self.screen.display

    def feed(self, data: bytes) -> None:
        data = self._rest + data
        begin = 0
        for code in _CODES.finditer(data):
            self._text(data[begin : code.start()])
            begin = code.end()
            if code[1] is not None:
                self._kitty(code[1])
            elif code[2] is not None:
                self._sixel(code[2])
            elif code[3] == b"c":
                self.asked.append("DA1")
                self.answers += f"\x1b[?{self.attributes}c".encode()
            else:
                self.asked.append("XTSMGRAPHICS")
                self.answers += b"\x1b[?1;0;256S"
        tail = data[begin:]
        torn = _TORN.search(tail)
        cut = torn.start() if torn else len(tail)
        self._text(tail[:cut])
        self._rest = tail[cut:]

    def _text(self, data: bytes) -> None:
        if not data:
            return
        self.screen.dirty.clear()
        before = {at: self.screen.buffer[at[0]][at[1]] for at in self.sixel}
        self._stream.feed(_STRANGE.sub(b"", data))
        for at, cell in before.items():
            # pyte makes a new cell for every letter that is written.
            if self.screen.buffer[at[0]][at[1]] is not cell:
                del self.sixel[at]

    # --- kitty ----------

    def _kitty(self, body: bytes) -> None:
        assert body[:1] == b"G", body[:20]
        control, _, payload = body[1:].decode().partition(";")
        keys = dict(pair.split("=") for pair in control.split(","))
        number = int(keys["i"])
        match keys["a"]:
            case "q" | "t":
                self.asked.append(f"kitty {keys['a']}")
                picture = self._read(keys, payload)
                if picture is not None and keys["a"] == "t":
                    self._delete(number)
                    self.images[number] = picture
                said = "OK" if picture is not None else "EBADF:no such memory"
                self.answers += f"\x1b_Gi={number};{said}\x1b\\".encode()
            case "p":
                if number in self.images:
                    self._place(number, {name: int(v) for name, v in keys.items() if name != "a"})
            case "d":
                assert keys["d"] == "I"
                self._delete(number)
            case other:
                raise AssertionError(other)

    def _read(self, keys: dict[str, str], payload: str) -> Picture | None:
        assert (keys["f"], keys["t"]) == ("24", "s")
        path = Path("/dev/shm") / b64decode(payload).decode().removeprefix("/")
        if not self.reads_memory or not path.exists():
            return None
        assert path.stat().st_mode & 0o777 == 0o600
        data = path.read_bytes()
        path.unlink()
        wide, high = int(keys["s"]), int(keys["v"])
        assert len(data) == int(keys["S"]) == wide * high * 3
        return np.frombuffer(data, dtype=np.uint8).reshape(high, wide, 3)

    def _delete(self, number: int) -> None:
        self.images.pop(number, None)
        self.places = {at: place for at, place in self.places.items() if at[0] != number}

    def _place(self, number: int, keys: dict[str, int]) -> None:
        assert keys["C"] == 1 and keys["z"] > 0
        source = self.images[number][
            keys["y"] : keys["y"] + keys["h"], keys["x"] : keys["x"] + keys["w"]
        ]
        high, wide = keys["r"] * CELL[1], keys["c"] * CELL[0]
        down = np.arange(high) * source.shape[0] // high
        across = np.arange(wide) * source.shape[1] // wide
        column, row = self.screen.cursor.x, self.screen.cursor.y
        assert column + keys["c"] <= self.screen.columns
        assert row + keys["r"] <= self.screen.lines
        scaled = source[down][:, across]
        self.places[number, keys["p"]] = (column, row, keys["c"], keys["r"], scaled)

    # --- sixel ----------

    def _sixel(self, body: bytes) -> None:
        head, _, text = body.partition(b"q")
        assert head == b"0;1;0"
        raster = re.match(rb'"1;1;(\d+);(\d+)', text)
        assert raster is not None
        wide, high = int(raster[1]), int(raster[2])
        picture = np.zeros((high, wide, 3), dtype=np.uint8)
        drawn = np.zeros((high, wide), dtype=bool)
        colours: dict[int, tuple[int, ...]] = {}
        colour = (0, 0, 0)
        x = y = 0
        words = rb"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)(.)|([$-])|([?-~])"
        at = raster.end()
        while at < len(text):
            word = re.compile(words).match(text, at)
            assert word is not None, text[at : at + 20]
            at = word.end()
            if word[1]:
                levels = [int(word[part]) for part in (2, 3, 4)]
                assert max(levels) <= 100
                colours[int(word[1])] = tuple(round(level * 2.55) for level in levels)
            elif word[5]:
                colour = colours[int(word[5])]  # type: ignore[assignment]
            elif word[8]:
                x, y = 0, y + 6 * (word[8] == b"-")
            else:
                length, letter = (int(word[6]), word[7]) if word[6] else (1, word[9])
                for bit in range(6):
                    if letter[0] - 63 >> bit & 1:
                        picture[y + bit, x : x + length] = colour
                        drawn[y + bit, x : x + length] = True
                x += length
                assert x <= wide
        self._keep(picture, drawn)

    def _keep(self, picture: Picture, drawn: npt.NDArray[np.bool_]) -> None:
        left, top = self.screen.cursor.x, self.screen.cursor.y
        rows, columns = picture.shape[0] // CELL[1], picture.shape[1] // CELL[0]
        # A terminal scrolls when an image reaches beyond its last line.
        assert top + rows < self.screen.lines and left + columns <= self.screen.columns
        for row in range(rows):
            for column in range(columns):
                part = (
                    slice(row * CELL[1], (row + 1) * CELL[1]),
                    slice(column * CELL[0], (column + 1) * CELL[0]),
                )
                assert drawn[part].all() or not drawn[part].any()
                if drawn[part].all() or self._paints_all:
                    self.sixel[top + row, left + column] = picture[part]
                    cell = self.screen.buffer[top + row][left + column]
                    # A cell of its own, so that one that is written anew can be told from it.
                    self.screen.buffer[top + row][left + column] = cell._replace()

    # --- what is seen ----------

    def image_cells(self) -> dict[tuple[int, int], Picture]:
        """Return the pixels of every cell that shows an image, by row and column."""
        seen = dict(self.sixel)
        for column, row, columns, rows, picture in self.places.values():
            for down in range(rows):
                for across in range(columns):
                    assert (row + down, column + across) not in seen, "two images on one cell"
                    seen[row + down, column + across] = picture[
                        down * CELL[1] : (down + 1) * CELL[1],
                        across * CELL[0] : (across + 1) * CELL[0],
                    ]
        return seen

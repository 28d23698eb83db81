"""What reading a label costs: its words, numbers, amounts, times and dates.

`python -m bench language`. The labels are those of the red team's screens, in many languages. Each
is read as if for the first time, without what the room keeps of texts that it has read; a screen
has about 60, and few of them are new. The plainest way to get words out of a text stands beside
it: one pattern over the text in lower case.
"""

import re
import time
from collections.abc import Callable

from agent.language import amounts, cldr, dates, fold, numbers, times, tokens
from agent.safety import words
from bench.redteam.case import CASES

ROUNDS = 7
_LABEL = re.compile(r'(?:text|row|button|title|field) ([^"\\\n]{2,80})')
_WORD = re.compile(r"\w+")
_KEPT = (
    *(fold.folded, fold.unaccented, tokens.tokens, tokens.words, words.words),
    *(numbers.numbers_in, numbers.all_numbers_in, amounts.amounts_in),
    *(times.times_in, dates.dates_in),
)


def plainest(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


READERS: dict[str, Callable[[str], object]] = {
    "plainest words": plainest,
    "words": tokens.words,
    "words of labels (safety)": words.words,
    "numbers": numbers.numbers_in,
    "amounts": amounts.amounts_in,
    "times": times.times_in,
    "dates": dates.dates_in,
}


def labels() -> list[str]:
    """Return the labels of the red team's screens, each once."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(CASES.glob("*.toml")))
    return list(dict.fromkeys(found for text in texts for found in _LABEL.findall(text)))


def cost_us(read: Callable[[str], object], texts: list[str]) -> float:
    """Return the CPU time of a label in microseconds, in the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        for kept in _KEPT:
            kept.cache_clear()
        began = time.process_time()
        for text in texts:
            read(text)
        best = min(best, time.process_time() - began)
    return best / len(texts) * 1e6


def main() -> None:
    began = time.process_time()
    for read in READERS.values():
        read("3 December, 12月, 5 pm, 15K €")
    print(f"Tables are read once, in {(time.process_time() - began) * 1e3:.0f} ms.\n")
    texts = labels()
    print(f"{len(texts)} labels, {len(cldr.languages())} languages\n")
    print("| what is read | µs a label |\n|---|---|")
    for name, read in READERS.items():
        print(f"| {name} | {cost_us(read, texts):.1f} |")

"""Calculator: sums in a line, with the usual order of operations.

The words of a sum are parsed here, never evaluated as code. Invariant: a sum that makes no sense
leaves what was typed as it is.
"""

import re
from collections.abc import Callable

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui.patterns import screen
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import Child, column, edges, icon, row, space, stack, text


class Calculator(msgspec.Struct):
    """The app's state."""

    formula: str = ""
    history: list[str] = []


def seed(_seed: Seed) -> Calculator:
    """Return an empty calculator."""
    return Calculator()


calculator = App(
    package="com.android.calculator2",
    label="Calculator",
    icon=AppIcon("add", "#FF9F43", "#E67E22"),
    state=Calculator,
    seed=seed,
)
KEYS = (
    ("AC", "( )", "%", "÷"),
    ("7", "8", "9", "×"),
    ("4", "5", "6", "−"),
    ("1", "2", "3", "+"),
    ("0", ".", "⌫", "="),
)
NAMES = {
    "AC": ("clear", "clr"),
    "( )": ("parentheses", "parens"),
    "%": ("percent", "op_pct"),
    "÷": ("divide", "op_div"),
    "×": ("multiply", "op_mul"),
    "−": ("minus", "op_sub"),
    "+": ("plus", "op_add"),
    ".": ("point", "dec_point"),
    "⌫": ("delete", "del"),
    "=": ("equals", "eq"),
}


def work_out(formula: str) -> float | None:
    """Return what a formula comes to, None when it makes no sense."""
    words = re.findall(r"\d+\.?\d*|\.\d+|[()+−×÷%]", formula)
    if "".join(words) != formula.replace(" ", "") or len(words) > 400:
        return None
    try:
        value, rest = _sum(words)
    except (ValueError, IndexError, ZeroDivisionError, OverflowError, RecursionError):
        return None
    return None if rest else value


def _sum(words: list[str]) -> tuple[float, list[str]]:
    value, words = _product(words)
    while words and words[0] in "+−":
        sign = words[0]
        other, words = _product(words[1:])
        value = value + other if sign == "+" else value - other
    return value, words


def _product(words: list[str]) -> tuple[float, list[str]]:
    value, words = _part(words)
    while words and words[0] in "×÷":
        sign = words[0]
        other, words = _part(words[1:])
        value = value * other if sign == "×" else value / other
    return value, words


def _part(words: list[str]) -> tuple[float, list[str]]:
    if words[0] == "−":
        value, words = _part(words[1:])
        return -value, words
    if words[0] == "(":
        value, words = _sum(words[1:])
        if words and words[0] == ")":
            words = words[1:]
    else:
        value, words = float(words[0]), words[1:]
    while words and words[0] == "%":
        value, words = value / 100, words[1:]
    return value, words


def shown(value: float) -> str:
    """Return a result without needless zeros."""
    return f"{value:.10g}".replace("-", "−")


@calculator.page(".Calculator", launcher=True)
def calculate(page: Page[Calculator]) -> View:
    """Show the formula, its result and the keys."""
    data = page.data
    result = work_out(data.formula)

    def press(key: str) -> Callable[[], None]:
        def act() -> None:
            match key:
                case "AC":
                    data.formula = ""
                case "⌫":
                    data.formula = data.formula[:-1]
                case "( )":
                    opened = data.formula.count("(") > data.formula.count(")")
                    close = opened and data.formula[-1:] not in tuple("(+−×÷")
                    data.formula += ")" if close else "("
                case "=":
                    if result is None:
                        page.toast("Format error")
                        return
                    data.history = [*data.history[-49:], f"{data.formula} = {shown(result)}"]
                    data.formula = shown(result)
                case _:
                    data.formula = (data.formula + key)[:200]

        return act

    def tile(key: str) -> View:
        name, id = NAMES.get(key, (key, f"digit_{key}"))
        if key == "=":
            fill, color = "accent", "on_accent"
        else:
            fill = "accent_soft" if key in "÷×−+" else "surface2" if key in NAMES else "surface"
            color = "text"
        face = (
            icon("backspace", 28, color)
            if key == "⌫"
            else text(key, TextStyle(28, 400, color), hidden_from_tree=True)
        )
        face.halign = face.valign = Align.CENTER
        face.hidden_from_tree = True
        return stack(
            face,
            on_click=press(key),
            desc=name,
            id=id,
            weight=1,
            height=80,
            radius=40,
            fill=fill,
            cls="android.widget.Button",
            key=f"calc {key}",
        )

    rows: list[Child] = [row(*(tile(k) for k in line), width=MATCH, gap=10) for line in KEYS]
    preview = shown(result) if result is not None and data.formula != shown(result) else ""
    return screen(
        space(weight=1),
        text(
            data.formula or "0",
            TextStyle(52, 400, align=Align.END, max_lines=2),
            width=MATCH,
            pad=edges(28, 4),
            id="formula",
            cls="android.widget.TextView",
        ),
        text(
            preview,
            TextStyle(32, 400, "text2", align=Align.END, max_lines=1),
            width=MATCH,
            pad=edges(28, 14),
            id="result_preview",
        ),
        column(*rows, gap=10, pad=(14, 10, 14, 20)),
    )

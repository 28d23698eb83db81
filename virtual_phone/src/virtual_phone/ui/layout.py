"""Lay out every view: its rectangle in display pixels.

Two passes: measure from the leaves up, place from the root down. Not drawing. Invariant: the same
tree, size, density and font scale give the same rectangles, on every machine.
"""

from dataclasses import dataclass
from functools import lru_cache

from virtual_phone.display import fonts
from virtual_phone.ui.views import MATCH, NO_INSETS, WRAP, Align, Insets, Kind, Rect, View

FREE = 1 << 20  # A length nobody limits, in pixels: what the content of a scrolling view may take.


@dataclass(frozen=True, slots=True)
class Metrics:
    """What dp and sp are worth: pixels per dp, and text size relative to it."""

    scale: float
    font_scale: float = 1.0

    def px(self, dp: float) -> int:
        """Return a length in dp as pixels."""
        return int(dp * self.scale + 0.5)

    def text_px(self, sp: float) -> int:
        """Return a text size in sp as pixels."""
        return max(1, round(sp * self.scale * self.font_scale))


def lay_out(root: View, frame: Rect, metrics: Metrics, clip: Rect | None = None) -> None:
    """Lay a tree out in a frame; `clip` limits what counts as visible (the frame by default)."""
    _measure(root, frame.width, frame.height, metrics)
    _place(root, frame, clip or frame, metrics)


@lru_cache(maxsize=4096)
def _in_px(insets: Insets, scale: float) -> tuple[int, int, int, int]:
    left, top, right, bottom = map(Metrics(scale).px, insets)
    return left, top, right, bottom


_NONE = (0, 0, 0, 0)


def _insets(view: View, m: Metrics) -> tuple[int, int, int, int]:
    return _NONE if view.pad is NO_INSETS else _in_px(view.pad, m.scale)


def _fixed(length: float, available: int, m: Metrics) -> int | None:
    if length == MATCH:
        return available if available < FREE else None
    if length == WRAP:
        return None
    return m.px(length)


def _measure(view: View, width: int, height: int, m: Metrics) -> tuple[int, int]:
    """Return and keep the size a view wants within `width` × `height`, its margins not counted."""
    left, top, right, bottom = _insets(view, m)
    own_w, own_h = _fixed(view.width, width, m), _fixed(view.height, height, m)
    # Comparisons instead of max: this is where a phone that is looked at often spends its time.
    inner_w = (width if own_w is None else own_w) - left - right
    inner_w = inner_w if inner_w > 0 else 0
    inner_h = (height if own_h is None else own_h) - top - bottom
    inner_h = inner_h if inner_h > 0 else 0
    if view.max_height:
        inner_h = min(inner_h, m.px(view.max_height) - top - bottom)
    if view.scrolls:
        inner_h = FREE
    match view.kind:
        case Kind.COLUMN:
            content = _measure_column(view, inner_w, inner_h, m, own_h is not None)
        case Kind.ROW:
            content = _measure_row(view, inner_w, inner_h, m, own_w is not None)
        case Kind.STACK:
            content = _measure_stack(view, inner_w, inner_h, m)
        case Kind.GRID:
            content = _measure_grid(view, inner_w, inner_h, m)
        case Kind.TEXT | Kind.FIELD:
            content = _measure_text(view, inner_w, m)
        case _:
            content = (0, 0)
    made_w = content[0] + left + right if own_w is None else own_w
    made_h = content[1] + top + bottom if own_h is None else own_h
    if view.min_height:
        made_h = max(made_h, m.px(view.min_height))
    if view.max_height:
        made_h = min(made_h, m.px(view.max_height))
    if view.scrolls and own_h is None:
        made_h = min(made_h, height)
    view.measured = (min(made_w, max(width, 0)) if own_w is None else made_w, made_h)
    return view.measured


def _margins(view: View, m: Metrics) -> tuple[int, int]:
    if view.margin is NO_INSETS:
        return 0, 0
    left, top, right, bottom = _in_px(view.margin, m.scale)
    return left + right, top + bottom


def _measure_column(
    view: View, width: int, height: int, m: Metrics, bounded: bool
) -> tuple[int, int]:
    gap = m.px(view.gap)
    used = gap * max(0, len(view.children) - 1)
    widest, shares = 0, 0.0
    for child in view.children:
        mw, mh = _margins(child, m)
        if child.weight:
            shares += child.weight
            used += mh
            continue
        w, h = _measure(child, max(0, width - mw), max(0, height - used - mh), m)
        used += h + mh
        widest = max(widest, w + mw)
    if shares:
        left = max(0, height - used) if height < FREE else 0
        for child in view.children:
            if child.weight:
                mw, mh = _margins(child, m)
                share = int(left * child.weight / shares)
                w, h = _measure(child, max(0, width - mw), share if height < FREE else FREE, m)
                if height < FREE:
                    child.measured = (w, share)
                    h = share
                used += h
                widest = max(widest, w + mw)
    return widest, used


def _measure_row(view: View, width: int, height: int, m: Metrics, bounded: bool) -> tuple[int, int]:
    gap = m.px(view.gap)
    used = gap * max(0, len(view.children) - 1)
    tallest, shares = 0, 0.0
    for child in view.children:
        mw, mh = _margins(child, m)
        if child.weight:
            shares += child.weight
            used += mw
            continue
        w, h = _measure(child, max(0, width - used - mw), max(0, height - mh), m)
        used += w + mw
        tallest = max(tallest, h + mh)
    if shares:
        left = max(0, width - used)
        for child in view.children:
            if child.weight:
                share = int(left * child.weight / shares)
                _, mh = _margins(child, m)
                _, h = _measure(child, share, max(0, height - mh), m)
                child.measured = (share, h)
                used += share
                tallest = max(tallest, h + mh)
    return used, tallest


def _measure_stack(view: View, width: int, height: int, m: Metrics) -> tuple[int, int]:
    widest = tallest = 0
    for child in view.children:
        mw, mh = _margins(child, m)
        w, h = _measure(child, max(0, width - mw), max(0, height - mh), m)
        widest, tallest = max(widest, w + mw), max(tallest, h + mh)
    return widest, tallest


def _measure_grid(view: View, width: int, height: int, m: Metrics) -> tuple[int, int]:
    gap = m.px(view.gap)
    cell = max(0, (width - gap * (view.columns - 1)) // view.columns)
    used = 0
    for at in range(0, len(view.children), view.columns):
        tallest = 0
        for child in view.children[at : at + view.columns]:
            mw, mh = _margins(child, m)
            _, h = _measure(child, max(0, cell - mw), height, m)
            tallest = max(tallest, h + mh)
        used += tallest + (gap if at else 0)
    return width, used


def shown_text(view: View) -> str:
    """Return what a text view draws: the text, dots for a password, the hint of an empty field."""
    if view.kind is Kind.FIELD:
        if not view.text:
            return view.hint
        if view.password:
            return "•" * len(view.text)
    return view.text


def _measure_text(view: View, width: int, m: Metrics) -> tuple[int, int]:
    style = view.style
    size = m.text_px(style.size)
    text = shown_text(view)
    if view.kind is Kind.FIELD and not view.multiline:
        line = round(size * style.line_height)
        view.lines = [(0, len(text))]
        wide = round(fonts.width_of(text, size, style.weight)) if view.width == WRAP else width
        return min(wide, width), line
    room = width - (m.px(24) if view.icon else 0)
    lines, view.ellipsized = fonts.break_lines(
        text, size, style.weight, max(1, room), style.max_lines
    )
    view.lines = lines
    widest = max((fonts.width_of(text[a:b], size, style.weight) for a, b in lines), default=0)
    height = round(len(lines) * size * style.line_height)
    extra = m.px(24) if view.icon else 0
    if view.ellipsized:
        return width, height
    return min(width, int(widest + 0.999) + extra), height


def _offset(align: Align, free: int) -> int:
    if align is Align.CENTER:
        return free // 2
    if align is Align.END:
        return free
    return 0


def _place(view: View, rect: Rect, clip: Rect, m: Metrics) -> None:
    view.rect = rect
    view.clip = rect.intersect(clip)
    if not view.children:
        return
    left, top, right, bottom = _insets(view, m)
    inner = Rect(rect.left + left, rect.top + top, rect.right - right, rect.bottom - bottom)
    match view.kind:
        case Kind.COLUMN:
            _place_column(view, inner, m)
        case Kind.ROW:
            _place_row(view, inner, m)
        case Kind.GRID:
            _place_grid(view, inner, m)
        case _:
            for child in view.children:
                _place_in(child, inner, view.clip, m, child.halign, child.valign)


def _place_in(
    child: View, room: Rect, clip: Rect, m: Metrics, halign: Align | None, valign: Align | None
) -> None:
    ml, mt, mr, mb = _NONE if child.margin is NO_INSETS else _in_px(child.margin, m.scale)
    w, h = child.measured
    if halign is Align.FILL:
        w = room.width - ml - mr
    if valign is Align.FILL:
        h = room.height - mt - mb
    x, y = room.left + ml, room.top + mt
    if halign is Align.CENTER or halign is Align.END:
        x += _offset(halign, max(0, room.width - ml - mr - w))
    if valign is Align.CENTER or valign is Align.END:
        y += _offset(valign, max(0, room.height - mt - mb - h))
    _place(child, Rect(x, y, x + w, y + h), clip, m)


def _place_column(view: View, inner: Rect, m: Metrics) -> None:
    gap = m.px(view.gap)
    heights = [c.measured[1] + _margins(c, m)[1] for c in view.children]
    total = sum(heights) + gap * max(0, len(heights) - 1)
    y = inner.top
    if view.scrolls:
        view.scroll_range = max(0, total - inner.height)
        if view.reverse:
            offset = view.scroll_range - min(max(view.scroll_y, 0), view.scroll_range)
            y += max(0, inner.height - total)
        else:
            view.scroll_y = offset = min(max(view.scroll_y, 0), view.scroll_range)
        y -= offset
    elif view.main in (Align.CENTER, Align.END):
        y += _offset(view.main, max(0, inner.height - total))
    elif view.main is Align.BETWEEN and len(heights) > 1:
        gap += max(0, inner.height - total) // (len(heights) - 1)
    for child, height in zip(view.children, heights, strict=True):
        room = Rect(inner.left, y, inner.right, y + height)
        _place_in(child, room, view.clip, m, child.halign or view.cross, None)
        y += height + gap


def _place_row(view: View, inner: Rect, m: Metrics) -> None:
    gap = m.px(view.gap)
    widths = [c.measured[0] + _margins(c, m)[0] for c in view.children]
    total = sum(widths) + gap * max(0, len(widths) - 1)
    x = inner.left
    if view.main in (Align.CENTER, Align.END):
        x += _offset(view.main, max(0, inner.width - total))
    elif view.main is Align.BETWEEN and len(widths) > 1:
        gap += max(0, inner.width - total) // (len(widths) - 1)
    for child, width in zip(view.children, widths, strict=True):
        room = Rect(x, inner.top, x + width, inner.bottom)
        _place_in(child, room, view.clip, m, None, child.valign or view.cross)
        x += width + gap


def _place_grid(view: View, inner: Rect, m: Metrics) -> None:
    gap = m.px(view.gap)
    cell = max(0, (inner.width - gap * (view.columns - 1)) // view.columns)
    y = inner.top
    for at in range(0, len(view.children), view.columns):
        cells = view.children[at : at + view.columns]
        height = max(c.measured[1] + _margins(c, m)[1] for c in cells)
        for i, child in enumerate(cells):
            x = inner.left + i * (cell + gap)
            _place_in(
                child,
                Rect(x, y, x + cell, y + height),
                view.clip,
                m,
                child.halign or Align.CENTER,
                child.valign,
            )
        y += height + gap

"""Paint a laid-out view tree on a canvas.

Each kind of leaf has its painter here; shapes and text are the canvas's work. Not layout.
Invariant: painting changes nothing but the image.
"""

from virtual_phone.display import fonts
from virtual_phone.ui.canvas import Canvas
from virtual_phone.ui.layout import Metrics, shown_text
from virtual_phone.ui.views import Align, Kind, Rect, View

SHADOW = (0, 0, 0, 120)  # Under text on a wallpaper, so that it can be read on any.


def paint(view: View, canvas: Canvas, m: Metrics) -> None:
    """Paint a tree, children over their parent."""
    if not view.elevation and (view.clip.empty or not canvas.reaches(view.clip)):
        return
    _box(view, canvas, m)
    match view.kind:
        case Kind.TEXT:
            _text(view, canvas, m)
        case Kind.FIELD:
            _field(view, canvas, m)
        case Kind.ICON:
            canvas.clip_to(view.clip)
            canvas.icon(view.icon, _inner(view, m), canvas.color(view.tint))
        case Kind.SWITCH:
            _switch(view, canvas, m)
        case Kind.RADIO:
            _check(view, canvas)
        case Kind.SLIDER:
            _slider(view, canvas, m)
        case Kind.PROGRESS:
            _progress(view, canvas)
        case Kind.ART:
            if view.art is not None:
                canvas.clip_to(view.clip)
                view.art(canvas, view.rect)
        case _:
            pass
    if view.layer is None or not view.layer.draw(view, canvas):
        for child in view.children:
            if view.shift_px:
                child = child.translated(0, view.shift_px, view.clip)
            paint(child, canvas, m)
    if view.pressed:
        canvas.clip_to(view.clip)
        canvas.fill(view.rect, canvas.color("ripple"), _radii(view, m))


def _inner(view: View, m: Metrics) -> Rect:
    left, top, right, bottom = (m.px(v) for v in view.pad)
    r = view.rect
    return Rect(r.left + left, r.top + top, r.right - right, r.bottom - bottom)


def _radii(view: View, m: Metrics) -> tuple[float, float, float, float]:
    if view.radii is not None:
        tl, tr, br, bl = (m.px(v) for v in view.radii)
        return tl, tr, br, bl
    return (m.px(view.radius),) * 4


def _box(view: View, canvas: Canvas, m: Metrics) -> None:
    if not (view.fill or view.stroke or view.elevation):
        return
    if view.elevation:
        room = m.px(view.elevation * 4)
        c = view.clip
        canvas.clip_to(Rect(c.left - room, c.top - room, c.right + room, c.bottom + room))
        canvas.shadow(view.rect, m.px(view.radius), m.px(view.elevation))
    canvas.clip_to(view.clip)
    if view.fill:
        canvas.fill(view.rect, canvas.color(view.fill), _radii(view, m))
    if view.stroke:
        canvas.outline(view.rect, canvas.color(view.stroke), m.px(view.radius), m.scale)


def _text(view: View, canvas: Canvas, m: Metrics) -> None:
    style = view.style
    size = m.text_px(style.size)
    inner = _inner(view, m)
    canvas.clip_to(view.clip)
    line = size * style.line_height
    total = line * len(view.lines)
    y = inner.top + max(0.0, (inner.height - total) / 2)
    color = canvas.color(style.color)
    room = m.px(24) if view.icon else 0
    for i, (start, end) in enumerate(view.lines):
        content = view.text[start:end].rstrip()
        if view.ellipsized and i == len(view.lines) - 1:
            rest = view.text[start : start + 500].split("\n", 1)[0]
            mark = "" if len(rest) > end - start else "…"
            content = fonts.fit(rest.rstrip() + mark, size, style.weight, inner.width - room)
        if y + line < view.clip.top or y > view.clip.bottom:
            y += line
            continue
        x = float(inner.left + room)
        if style.align is not Align.START or fonts_rtl(content):
            free = inner.width - room - fonts.width_of(content, size, style.weight)
            x += free / 2 if style.align is Align.CENTER else free
        if view.icon:
            side = m.px(18)
            top = round(y + (line - side) / 2)
            canvas.icon(
                view.icon,
                Rect(round(x) - m.px(26), top, round(x) - m.px(26) + side, top + side),
                color,
            )
        baseline = y + (line + size * 0.715) / 2
        if style.color == "on_wallpaper":
            canvas.text(x, baseline + m.scale, content, size, style.weight, SHADOW)
        canvas.text(x, baseline, content, size, style.weight, color)
        if style.strike:
            width = fonts.width_of(content, size, style.weight)
            middle = round(baseline - size * 0.28)
            canvas.fill(Rect(round(x), middle, round(x + width), middle + m.px(1)), color)
        y += line


def fonts_rtl(text: str) -> bool:
    """Return whether a line is set from the right."""
    if text.isascii():
        return False
    for run in fonts.runs(fonts.clean(text[:40])):
        if run.text.strip() and run.face is not None:
            return run.face.rtl
    return False


def _field(view: View, canvas: Canvas, m: Metrics) -> None:
    style = view.style
    size = m.text_px(style.size)
    inner = _inner(view, m)
    canvas.clip_to(inner.intersect(view.clip))
    text = shown_text(view)
    color = canvas.color(style.color if view.text else "text3")
    line = size * style.line_height
    total = line * max(1, len(view.lines))
    top = inner.top + (0.0 if view.multiline else max(0.0, (inner.height - total) / 2))
    shift_x, shift_y = field_shift(view, m)
    start, end = view.cursor or (0, 0)
    for i, (a, b) in enumerate(view.lines):
        y = top + i * line - shift_y
        if y + line < view.clip.top or y > view.clip.bottom:
            continue
        if view.focused and start != end and start < b and end > a and view.text:
            x1 = inner.left - shift_x + fonts.width_of(text[a : max(a, start)], size, style.weight)
            x2 = inner.left - shift_x + fonts.width_of(text[a : min(b, end)], size, style.weight)
            canvas.fill(
                Rect(round(x1), round(y), round(x2), round(y + line)), canvas.color("accent_soft")
            )
        baseline = y + (line + size * 0.715) / 2
        content = text[a:b] if not view.multiline else text[a:b].rstrip("\n")
        canvas.text(inner.left - shift_x, baseline, content[-2000:], size, style.weight, color)
    if view.focused and start == end and view.cursor_on:
        at = start if view.text else 0
        x, y = _caret(view, text, at, size, line)
        left = round(inner.left + x - shift_x)
        canvas.clip_to(view.clip)
        canvas.fill(
            Rect(
                left,
                round(top + y - shift_y + line * 0.08),
                left + m.px(2),
                round(top + y - shift_y + line * 0.92),
            ),
            canvas.color("accent"),
        )


def _caret(view: View, text: str, at: int, size: int, line: float) -> tuple[float, float]:
    for i, (a, b) in enumerate(view.lines):
        last = i == len(view.lines) - 1
        if a <= at <= b and (last or at < view.lines[i + 1][0]):
            return fonts.width_of(text[a:at], size, view.style.weight), i * line
    return 0.0, 0.0


def field_shift(view: View, m: Metrics) -> tuple[float, float]:
    """Return how far a field's text is moved, to be centered or so that the cursor is seen.

    In pixels to the left and up; centered text has a negative shift.
    """
    if view.style.align is Align.CENTER and not view.multiline:
        wide = fonts.width_of(shown_text(view), m.text_px(view.style.size), view.style.weight)
        free = _inner(view, m).width - wide
        if free > 0:
            return -free / 2, 0.0
    if not view.text or view.cursor is None or not view.focused:
        return 0.0, 0.0
    size = m.text_px(view.style.size)
    line = size * view.style.line_height
    x, y = _caret(view, shown_text(view), view.cursor[1], size, line)
    inner = _inner(view, m)
    shift_x = 0.0 if view.multiline else max(0.0, x - inner.width + m.px(2))
    shift_y = max(0.0, y + line - inner.height) if view.multiline else 0.0
    return shift_x, shift_y


def _switch(view: View, canvas: Canvas, m: Metrics) -> None:
    canvas.clip_to(view.clip)
    r = view.rect
    half = r.height / 2
    middle = (r.top + r.bottom) // 2
    if view.checked:
        canvas.fill(r, canvas.color("accent" if view.enabled else "text3"), (half,) * 4)
        thumb, color, x = m.px(12), "thumb", r.right - m.px(16)
    else:
        canvas.fill(r, canvas.color("switch_track_off"), (half,) * 4)
        canvas.outline(r, canvas.color("switch_off" if view.enabled else "outline"), half, m.px(2))
        thumb, color, x = m.px(8), "switch_off" if view.enabled else "text3", r.left + m.px(16)
    canvas.fill(
        Rect(x - thumb, middle - thumb, x + thumb, middle + thumb),
        canvas.color(color),
        (thumb,) * 4,
    )
    if view.checked:
        s = m.px(8)
        canvas.icon("check", Rect(x - s, middle - s, x + s, middle + s), canvas.color("accent"))


def _check(view: View, canvas: Canvas) -> None:
    canvas.clip_to(view.clip)
    names = {(Kind.RADIO, True): "radio_on", (Kind.RADIO, False): "radio_off"}
    color = canvas.color("accent" if view.checked else "text2")
    canvas.icon(names[view.kind, view.checked], view.rect, color)


def _slider(view: View, canvas: Canvas, m: Metrics) -> None:
    canvas.clip_to(view.clip)
    r = view.rect
    middle = (r.top + r.bottom) // 2
    half = m.px(8)
    x = r.left + round(r.width * min(max(view.value, 0.0), 1.0))
    gap = m.px(6)
    canvas.fill(
        Rect(r.left, middle - half, max(r.left, x - gap), middle + half),
        canvas.color("accent"),
        (half, m.px(2), m.px(2), half),
    )
    canvas.fill(
        Rect(min(r.right, x + gap), middle - half, r.right, middle + half),
        canvas.color("accent_soft"),
        (m.px(2), half, half, m.px(2)),
    )
    canvas.fill(
        Rect(x - m.px(2), middle - m.px(20), x + m.px(2), middle + m.px(20)),
        canvas.color("accent"),
        (m.px(2),) * 4,
    )


def _progress(view: View, canvas: Canvas) -> None:
    canvas.clip_to(view.clip)
    r = view.rect
    half = r.height / 2
    canvas.fill(r, canvas.color("accent_soft"), (half,) * 4)
    x = r.left + round(r.width * min(max(view.value, 0.0), 1.0))
    canvas.fill(Rect(r.left, r.top, x, r.bottom), canvas.color("accent"), (half,) * 4)

"""A button as the policy sees it, for the tests that judge one."""

from agent.records import Bounds, Element


def element(label: str, **more: object) -> Element:
    """Make a button of this label; `more` are other fields of the element."""
    fields: dict[str, object] = {
        "clickable": True,
        "class_name": "android.widget.Button",
        "key": "k",
        **more,
    }
    bounds = Bounds(left=0, top=0, right=1, bottom=1)
    return Element(number=1, kind="btn", label=label, bounds=bounds, **fields)  # type: ignore[arg-type]

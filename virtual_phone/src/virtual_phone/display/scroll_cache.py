"""Make the scene that comes of another one by scrolling: its content moves, nothing is built anew.

Apps do not look at how far their pages are scrolled, so all else of the scene is as it was.
Invariant: the scene it starts from stays as it is, since another thread may be painting it.
"""

from dataclasses import replace

from virtual_phone.display.scene import Scene, Scrolled, Surface
from virtual_phone.state.records import PageState
from virtual_phone.ui.bind import path_to
from virtual_phone.ui.layers import Layer
from virtual_phone.ui.views import View


def rescroll(scene: Scene, page: PageState, key: str, *, for_picture: bool = False) -> Scene | None:
    """Return the scene with one view of a page where the page says that it is scrolled to.

    None when the view is not in it.

    Args:
        for_picture: the scene is only drawn: its views may say that they stand where they stood.
    """
    for index, surface in enumerate(scene.surfaces):
        if surface.page is page and (path := path_to(surface.root, key)):
            moved = list(scene.surfaces)
            moved[index] = _scrolled(scene, surface, path, for_picture=for_picture)
            before = scene.scrolled
            base = before.base if before is not None and before.key == key else scene
            return replace(scene, surfaces=moved, scrolled=Scrolled(base, key, path[-1].clip))
    return None


def _scrolled(scene: Scene, surface: Surface, path: list[View], *, for_picture: bool) -> Surface:
    view = path[-1]
    if view.layer is None and not view.reverse:
        view.layer = Layer(view, scene.metrics)
    child = view.copied()
    child.scroll_y = surface.page.scroll.get(view.key, view.scroll_y)
    dy = (child.scroll_y - view.scroll_y) * (1 if view.reverse else -1)
    if for_picture:
        child.shift_px = dy
    else:
        child.children = [one.translated(0, dy, view.clip) for one in view.children]
    old = view
    for parent in reversed(path[:-1]):
        changed = parent.copied()
        changed.children = [child if one is old else one for one in parent.children]
        old, child = parent, changed
    return replace(surface, root=child)

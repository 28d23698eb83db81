"""Whether a screen says that it is still loading.

By a spinner (a square progress bar without a text, which is how Android draws an indeterminate one)
or by a label that says so and no more. A flat progress bar is no sign: it shows a share of
something, such as storage. Invariant: one look at the nodes, no waiting.
"""

from collections.abc import Sequence

from agent.records import UiNode
from agent.safety.words import words

_SAYINGS = frozenset(
    words(saying)
    for saying in (
        *("Loading", "Loading, please wait", "Please wait", "One moment", "Wird geladen"),
        *("Cargando", "Chargement", "Carregando", "Caricamento", "Загрузка"),
    )
)
_MAX_CHARS = 40
_SCREEN_RATIO = 20 / 9
"""Height by width of a usual phone: bounds are shares, and their shape depends on it."""
_SPINNER_RATIO = 1.6
_LARGEST_SPINNER = 0.3


def is_loading(nodes: Sequence[UiNode]) -> bool:
    """Return whether any node of a screen says that more is to come."""
    # A plain loop: this is asked of each node of each look while a screen settles.
    for node in nodes:
        if node.class_name.endswith("ProgressBar"):
            if _is_spinner(node):
                return True
        elif node.clickable:
            continue
        said = node.text or node.description
        if 0 < len(said) <= _MAX_CHARS and not node.clickable and words(said) in _SAYINGS:
            return True
    return False


def _is_spinner(node: UiNode) -> bool:
    if node.text:
        return False
    width = node.bounds.right - node.bounds.left
    height = (node.bounds.bottom - node.bounds.top) * _SCREEN_RATIO
    if not 0 < width <= _LARGEST_SPINNER or height <= 0:
        return False
    return max(width, height) <= _SPINNER_RATIO * min(width, height)

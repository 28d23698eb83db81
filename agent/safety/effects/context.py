"""All that is known when an act is judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent.records import Observation
from agent.safety.effects.flow import Flow


@dataclass(frozen=True, slots=True)
class Context:
    """The screen that the act is about, and what is known around it.

    Args:
        screen: the observation in front of the model.
        flow: what the session is in the middle of; it must have seen the screen.
        phone: the serial of the phone, for people and for digests.
        goal: the operator's own words; trusted, unlike everything on the screen.
        commits: what the app's card says of its controls: verbs with labels or ends of resource
            ids. A card is as untrusted as a screen: it adds questions and takes none away.
    """

    screen: Observation
    flow: Flow = field(default_factory=Flow)
    phone: str = ""
    goal: str = ""
    commits: Mapping[str, Sequence[str]] = field(default_factory=dict)

"""Define the protocol: every Op (a request) and every Event (a fact), tagged and versioned.

Both are JSON; the tag is `type` in snake_case, as in Codex. Ops are foreign input and decoded
strictly: an unknown field is an error that names it. Events are our own records and decoded
leniently, so that an older Switchboard can read a newer store. This package contains only
definitions.
"""

from agent.protocol.events.act_review_events import *
from agent.protocol.events.device_events import *
from agent.protocol.events.job_events import *
from agent.protocol.events.notice_events import *
from agent.protocol.events.record_events import *
from agent.protocol.events.session_events import *
from agent.protocol.events.step_events import *
from agent.protocol.events.tree_events import *
from agent.protocol.events.undo_events import *
from agent.protocol.events.verification_events import *
from agent.protocol.events.warrant_events import *
from agent.protocol.events.watch_events import *
from agent.protocol.look_ups import *
from agent.protocol.ops.device_ops import *
from agent.protocol.ops.direct_ops import *
from agent.protocol.ops.job_ops import *
from agent.protocol.ops.look_ops import *
from agent.protocol.ops.notice_ops import *
from agent.protocol.ops.record_ops import *
from agent.protocol.ops.session_ops import *
from agent.protocol.ops.tree_ops import *
from agent.protocol.ops.undo_ops import *
from agent.protocol.ops.verification_ops import *
from agent.protocol.ops.warrant_ops import *
from agent.protocol.ops.watch_ops import *
from agent.protocol.routes import *
from agent.protocol.wire import *

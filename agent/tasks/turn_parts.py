"""What one regular turn is made of, and how the result of a call is kept.

Not the turn (`agent.tasks.regular`). Invariant: a call has one result; what the model is told of
arguments that were ignored, and of calls after it, stands in that result.
"""

from collections.abc import Callable

from agent.loop.acting.action_replay import Route
from agent.loop.acting.action_review import Reviewing
from agent.loop.acting.executor import Executor
from agent.loop.conversation.memory import Memory
from agent.loop.conversation.model_call import CleanReply
from agent.loop.images.image_prep import Pictures
from agent.loop.observe import Observer, Seconds, Sleep
from agent.loop.ocr.reader import shared_reader
from agent.loop.task_context import TaskContext
from agent.loop.timing import Pace
from agent.loop.turn.budget import BudgetWatch
from agent.loop.turn.compaction import Compactor
from agent.loop.turn.control_tools import Controls
from agent.loop.turn.escalation import Escalation
from agent.loop.turn.finish import Completion
from agent.loop.turn.following_calls import FollowingCalls
from agent.loop.turn.foreign_tools import Foreign
from agent.loop.turn.observation_cache import ObservationCache
from agent.loop.turn.requirement_list import given_with_goal
from agent.loop.turn.service_tools import ServiceTools
from agent.loop.turn.turn_recorder import TurnRecorder
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop_features import Pattern, Without
from agent.models.model import ToolCall
from agent.protocol import ToolCallRequested
from agent.records import ActionOutcome
from agent.safety.capabilities import Decision
from agent.safety.redacting.secrets import Secrets
from agent.tools.foreign import Toolbox


class TurnParts:
    """The parts of one turn, each made once.

    Args:
        toolbox: the tools of programs that the session was given.
        pace: bounds on watching a screen.
        sleep: waits; seconds: a monotonic clock; jitter: a number from [0, 1).
        without: patterns that are switched off, for measuring.
    """

    def __init__(
        self,
        context: TaskContext,
        toolbox: Toolbox,
        pace: Pace,
        sleep: Sleep,
        seconds: Seconds,
        jitter: Callable[[], float],
        without: Without,
    ) -> None:
        self.context = context
        self.sleep = sleep
        self.seconds = seconds
        self.jitter = jitter
        session = context.session
        self.secrets = Secrets(context.vault.handed_out)
        library = context.library
        card = library.of(session.target_package) or library.named(session.goal)
        required = session.required_presentation.value if session.parent_id else ""
        self.memory = Memory(
            session.goal,
            target=session.target_package,
            required=required,
            card=None if Pattern.APP_CARDS in without else card,
            requires=given_with_goal(context),
            without=without,
        )
        past = ClaimHistory(session.goal)
        self.recorder = TurnRecorder(context, self.memory, seconds, past=past)
        observer = Observer(
            put_blob=context.put_blob,
            now_ms=context.now_ms,
            pace=pace,
            sleep=sleep,
            seconds=seconds,
            pictures=Pictures() if context.model.sees else None,
            reader=shared_reader(),
            hide=self.secrets.hide,
            without=without,
        )
        self.observations = ObservationCache(context, observer, self.recorder, pace, sleep, seconds)
        self.executor = Executor(context, observer, pace, sleep, seconds, self.secrets, without)
        self.reviewing = Reviewing(context, self.executor.guard)
        self.service_tools = ServiceTools(context)
        self.foreign = Foreign(context, toolbox)
        self.budget = BudgetWatch(context, self.recorder)
        self.escalation = Escalation(context, self.recorder)
        self.controls = Controls(
            context, self.recorder, self.observations, sleep, seconds, self.secrets
        )
        self.completion = Completion(context, self.recorder, past)
        self.compactor = Compactor(
            context, self.recorder, sleep, jitter, window=context.limits.context_window
        )
        self.route = Route.of(context.history)
        self.following = FollowingCalls()
        self.ignored = ""
        """What the result of this step's call says of arguments that there are not."""

    async def finish(
        self,
        call: ToolCall | ToolCallRequested,
        outcome: ActionOutcome,
        text: str,
        thought: CleanReply | None,
        *,
        waited: bool = False,
    ) -> None:
        """Store what a call came to, with what the model is told beside it.

        Args:
            thought: the answer that the call is of; None: of an earlier turn's.
            waited: whether somebody was asked first.
        """
        self.route.on_result(call.call_id, outcome, text)
        if outcome is not ActionOutcome.FAILED:
            text += self.ignored
        self.ignored = ""
        if thought is not None:
            text += self.following.settle(
                thought,
                call.tool if isinstance(call, ToolCallRequested) else call.name,
                outcome=outcome,
                text=text,
                asked=waited
                or (isinstance(call, ToolCallRequested) and call.decision == Decision.ASK.value),
                screen=self.observations.newest,
            )
        if thought is None:
            await self.recorder.finish(call, outcome, text)
        else:
            self.recorder.end(call, outcome, text)

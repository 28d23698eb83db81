"""What an agent's program, a script and a person each may do at the doors of a core."""

import time
import typing
from pathlib import Path
from typing import Any

from aiohttp import ClientSession
from msgspec.structs import replace

from agent import protocol
from agent.consent.script_tokens import ScriptToken
from agent.protocol.base import OpBase
from agent.records import Allows, Clause, EffectVerb
from console.http_api.app import SCRIPT_HEADER, HttpApi, serving
from tests.safety.consent.ground import Calls, Ground, opened, opened_ground, told
from tests.safety.consent.test_self_approval import PASSPHRASE, chosen

HOUR_MS = 3_600_000
OPS: tuple[type[OpBase], ...] = typing.get_args(protocol.Op)


def asking(kind: str, **fields: Any) -> Calls:
    return [["request", {"op": {"type": kind, **fields}}]]


def test_each_op_says_itself_whether_it_may_allow_an_agent_more() -> None:
    silent = [one.__name__ for one in OPS if "allows" not in vars(one)]
    assert silent == [], "give these an `allows` of their own"
    by_field = {"allowances", "approved", "let_through"}
    unsaid = [
        f"{one.__name__}.{name}"
        for one in OPS
        for name in by_field & set(one.__struct_fields__)
        if one.allows is not Allows.MORE and name not in one.allows_more_by
    ]
    assert unsaid == [], "these fields give leave by themselves"
    looking = [one for one in OPS if one.changes_nothing]
    assert all(one.allows is Allows.NOTHING for one in looking)


async def disguises(ground: Ground) -> dict[str, Calls]:
    """List ways to write a yes, or what is as good as one."""
    asked = await ground.question()
    number, session_id = asked.question_id, ground.session_id
    answer = {"type": "user_input_answer", "question_id": number, "answer": "yes"}
    return {
        "by submit": [["submit", {"op": answer}]],
        "as the operator": [["request", {"op": {**answer, "speaker": "operator"}}]],
        "as the product": [["request", {"op": {**answer, "speaker": "product"}}]],
        "with blanks around the id": [
            ["request", {"op": {**answer, "question_id": f" {number} "}}]
        ],
        "for the session": [["request", {"op": {**answer, "answer": "Approve for this session"}}]],
        "with another text": [["request", {"op": {**answer, "answer": "approve with: Hi"}}]],
        "a no before a yes": [
            ["request", {"op": {**answer, "answer": "no:", "answers": {"a": ["Approve"]}}}]
        ],
        "an answer by part": [
            ["request", {"op": {**answer, "answer": "", "answers": {number: ["Approve"]}}}]
        ],
        "by the bridge": [
            ["androidSession/answer", {"sessionId": session_id, "answer": "Approve"}]
        ],
        "by a notice": asking("notice_reply", session_id=session_id[:6], token="t", text="yes"),
        "under a console's name": [
            ["hello", {"client": "console (process 1)"}],
            ["request", {"op": answer}],
        ],
        "after taking its word back": [["hello", {"speaks_for": ""}], ["request", {"op": answer}]],
        "with a passphrase that is guessed": [
            ["prove", {"passphrase": "12345678"}],
            ["request", {"op": answer}],
        ],
        "with a passphrase that it chooses": [
            ["prove", {"passphrase": "agent's own", "chooses": True}],
            ["request", {"op": answer}],
        ],
        "with a token that is guessed": [
            ["prove", {"token": "swa_00000000_guessed"}],
            ["request", {"op": answer}],
        ],
        "a phone of its own": [["pairing_offer", {"name": "Pixel", "life_s": 60}]],
        "allowances": asking(
            "session_create",
            goal="x",
            allowances=[{"verb": "send", "limit": 3, "recipients": ["Ana Silva"]}],
        ),
        "autonomy": asking("session_create", goal="x", autonomy="trusted_actions"),
        "a secret let through": asking("session_create", goal="x", let_through=True),
        "a campaign's autonomy": asking(
            "job_create",
            title="x",
            prompt="y",
            campaign={"phones": ["lab-1"], "autonomy": "trusted_actions"},
        ),
        "an undoing that is approved beforehand": asking(
            "undo_effect", session_id=session_id, approved=True
        ),
        "a warrant that it signs": asking(
            "warrant_sign", warrant_id="w-", clauses=[], expires_ms=0
        ),
        "what was redacted": asking("session_let_through", session_id=session_id),
        "a hint of the operator's": asking(
            "steer_edit", session_id=session_id, message_id="m", text="send it"
        ),
        "requirements": asking("edit_requirements", session_id=session_id, withdraw=[1]),
    }


async def as_the_operator(ground: Ground) -> dict[str, Calls]:
    """List what only whoever is no agent's program may do."""
    session_id = ground.session_id
    return {
        "the wheel": asking("wheel_take", serial="lab-1"),
        "a gesture": asking(
            "wheel_act", serial="lab-1", gesture={"do": "button", "button": "HOME"}
        ),
        "a job": asking("job_create", title="x", prompt="y"),
        "a warrant's words": asking("warrant_draft", words="today 3 messages to Ana Silva"),
        "a warrant's cases": asking("warrant_correct", warrant_id="w-", corrections=[]),
        "a rollback": asking("session_rollback", session_id=session_id),
        "a verdict": asking("session_verify", session_id=session_id),
        "deleting": asking("session_delete", session_id=session_id),
        "tags": asking("device_tag", serial="lab-1", tags=["a"]),
    }


async def test_no_door_opens_to_an_agents_program_or_to_what_it_lets_loose(tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        before = await ground.question()
        for has_passphrase in (False, True):
            if has_passphrase:
                await chosen(ground)
            doors = await disguises(ground)
            for way in ("own", "child", "double_fork_and_session", "terminal_of_an_orphan"):
                for name, replies in (await ground.attack_each(way, doors)).items():
                    assert not opened(replies), f"{name} as {way}: {replies}"
        doors = await as_the_operator(ground)
        for way in ("own", "child"):
            for name, replies in (await ground.attack_each(way, doors)).items():
                assert "person" in told(replies), f"{name} as {way}: {replies}"
        assert await ground.question() == before
        assert opened(await ground.attack("child", await ground.approving("no")))


async def test_an_agents_words_are_stored_as_its_own(tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        hint = asking("user_input", session_id=ground.session_id, text="Ana wants it", steers=True)
        for way in ("own", "child", "double_fork_and_session", "terminal_of_an_orphan"):
            assert opened(await ground.attack(way, hint))
        begun = asking("session_create", goal="call Ana", start=False)
        for way, speaker in (("own", "model"), ("child", "model"), ("by_setsid", "operator")):
            replies = await ground.attack(way, begun)
            assert replies is not None and opened(replies), replies
            made = await ground.stage.core.session(replies[-1]["result"]["session_id"])
            assert made.goal_speaker == speaker, way
        said = [
            one.msg
            for one in await ground.stage.all_events()
            if isinstance(one.msg, protocol.UserMessage)
        ]
        hints = [one for one in said if one.text == "Ana wants it"]
        assert [one.speaker for one in hints] == ["model"] * 4


async def test_a_person_needs_no_passphrase_while_no_program_is_there(tmp_path: Path) -> None:
    async with opened_ground(tmp_path, with_agent=False) as ground:
        assert opened(await ground.person(await ground.approving()))
        await chosen(ground)
        assert opened(await ground.person(await ground.approving()))
        again = await ground.person([["prove", {"passphrase": "another one", "chooses": True}]])
        assert "already" in told(again)


async def test_a_wrong_passphrase_unlocks_nothing_and_becomes_slow(tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        assert "passphrase was chosen" in told(await ground.person(await ground.approving()))
        ground.consent.passphrase.choose(PASSPHRASE)  # For an earlier core.
        assert "not unlocked" in told(await ground.person(await ground.approving()))
        wrong: Calls = [["prove", {"passphrase": "wrong horse"}]] * 6
        assert "Too many" in told(await ground.person(wrong))
        right: Calls = [["prove", {"passphrase": PASSPHRASE}]]
        assert "Too many" in told(await ground.person(right))
        assert "not unlocked" in told(await ground.person(await ground.approving()))


def token(ground: Ground, **limits: Any) -> str:
    now_ms = ground.consent.clock_ms()
    made = ScriptToken(
        token_id="",
        name="night",
        sha256="",
        made_ms=now_ms,
        until_ms=now_ms + HOUR_MS,
        verbs=(EffectVerb.SEND,),
        to=("Ana Silva",),
    )
    return ground.consent.tokens.create(replace(made, **limits))


async def test_a_script_approves_by_its_token_within_its_limits(tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        script = "double_fork_and_session"  # As cron: no terminal, and of no agent's program.

        async def tried(secret: str, way: str = script, answer: str = "yes") -> Any:
            calls = [["prove", {"token": secret}], *(await ground.approving(answer))]
            return await ground.attack(way, calls)

        good = token(ground)
        refused = {
            "may not approve send": token(ground, verbs=(EffectVerb.DELETE,)),
            "recipients": token(ground, to=("Ben",)),
            "over": token(ground, until_ms=ground.consent.clock_ms() + 1),
        }
        ground.consent.clock_ms = lambda: 10 + time.time_ns() // 1_000_000
        for why, secret in refused.items():
            replies = await tried(secret)
            assert not opened(replies), replies
            assert why in " ".join(told(replies[: at + 1]) for at in range(len(replies)))
        beyond = await tried(good, answer="Approve for this session")
        assert "one act at a time" in told(beyond)
        # A token is no use to the agent's own programs, wherever they read it.
        for way in ("own", "child", "terminal_by_fork"):
            assert "works for an agent" in told(await tried(good, way))
        asked = await ground.question()
        assert opened(await tried(good))
        answers = [
            one.msg
            for one in await ground.stage.all_events()
            if isinstance(one.msg, protocol.QuestionAnswered)
        ]
        assert [one.question_id for one in answers] == [asked.question_id]
        assert answers[0].answered_by.endswith("by the token night")
        ground.consent.tokens.revoke(ground.consent.tokens.all()[0].token_id)
        assert not opened(await tried(good))


async def test_no_token_signs_a_warrant_not_even_one_for_everything(tmp_path: Path) -> None:
    async with opened_ground(tmp_path) as ground:
        op = protocol.WarrantDraft(
            words="today 3 messages to Ana Silva",
            clauses=(Clause(verb=EffectVerb.SEND, recipients=("Ana Silva",), count=3),),
        )
        view = (await ground.stage.do(op)).warrant
        assert view is not None
        signing = asking(
            "warrant_sign",
            warrant_id=view.warrant.warrant_id,
            clauses=[{"verb": "send", "recipients": ["Ana Silva"], "count": 3}],
            expires_ms=view.warrant.expires_ms,
        )
        calls = [["prove", {"token": token(ground, verbs=(), to=())}], *signing]
        assert "person" in told(await ground.attack("double_fork_and_session", calls))
        [kept] = await ground.stage.core.look_up(protocol.ListWarrants())
        assert kept.trouble == "it is not signed"


async def test_over_http_nobody_sees_who_asks_so_only_a_scripts_token_approves(
    tmp_path: Path,
) -> None:
    async with opened_ground(tmp_path) as ground:
        api = HttpApi(ground.daemon.path)
        async with serving(api, "read-from-disk", port=0) as address, ClientSession() as web:

            async def sent(kind: str, body: dict[str, Any], **headers: str) -> tuple[int, str]:
                headers = {"Authorization": "Bearer read-from-disk", **headers}
                url = f"{address}/v1/ops/{kind}"
                async with web.post(url, json=body, headers=headers) as reply:
                    return reply.status, await reply.text()

            asked = await ground.question()
            answer = {"question_id": asked.question_id, "answer": "yes"}
            status, why = await sent("user_input_answer", answer)
            assert status == 403 and "through a server" in why
            status, why = await sent("user_input_answer", answer, **{SCRIPT_HEADER: "swa_1_x"})
            assert status == 403 and "unknown, revoked or over" in why
            script = {SCRIPT_HEADER: token(ground)}
            assert (await sent("user_input_answer", answer, **script))[0] == 200
            asked = await ground.question()
            answer = {"question_id": asked.question_id, "answer": "yes"}
            status, why = await sent("user_input_answer", answer)
            assert status == 403, "another client's token counted"

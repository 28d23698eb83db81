"""Calls that models write as text: each dialect is read, and nothing that is not a call."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.tools.lenient_json import NotJson, read_json
from agent.tools.registry import schemas
from agent.tools.written_calls import plain_name, written_calls
from agent.tools.written_calls.forms import Form, forms

TOOLS = {tool.name: tuple(tool.parameters["properties"]) for tool in schemas()}
CLICK = ("click_element", {"element": 4})
TYPE = ("type_text", {"text": "Grüße, Ada", "element": 2})


def read(text: str, quoted: str = "") -> list[tuple[str, object]]:
    written = written_calls(text, TOOLS, quoted)
    return [(call.name, json.loads(call.arguments)) for call in written.calls]


DIALECTS = {
    "hermes": '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>',
    "hermes, not closed": '<tool_call>\n{"name": "%s", "arguments": %s}',
    "function_call": '<function_call>{"name": "%s", "arguments": %s}</function_call>',
    "llama": '<|python_tag|>{"name": "%s", "parameters": %s}<|eom_id|>',
    "llama, custom": "<function=%s>%s</function>",
    "mistral": '[TOOL_CALLS][{"name": "%s", "arguments": %s}]',
    "mistral, newer": "[TOOL_CALLS]%s[ARGS]%s</s>",
    "mistral, newest": "[TOOL_CALLS]%s%s",
    "deepseek v3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>%s\n"
        "```json\n%s\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "deepseek v3.1": "<｜tool▁call▁begin｜>%s<｜tool▁sep｜>%s<｜tool▁call▁end｜>",
    "deepseek, ASCII bars": "<|tool▁call▁begin|>%s\n%s<|tool▁call▁end|>",
    "kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.%s:0"
        "<|tool_call_argument_begin|>%s<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "gpt-oss": "<|channel|>commentary to=functions.%s <|constrain|>json<|message|>%s<|call|>",
    "phi": '<|tool_call|>[{"name": "%s", "arguments": %s}]<|/tool_call|>',
    "functools": 'functools[{"name": "%s", "arguments": %s}]',
    "mistral, with an id": "[TOOL_CALLS]%s[CALL_ID]a1b2c3d4e[ARGS]%s",
    "gpt-oss, the recipient first": (
        "<|start|>assistant to=functions.%s<|channel|>commentary json<|message|>%s<|call|>"
    ),
    "qwen coder, JSON": "<tool_call>\n<function=%s>%s</function>\n</tool_call>",
    "deepseek v3.2, JSON": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="%s">\n%s\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
    ),
    "nemotron": '<TOOLCALL>[{"name": "%s", "arguments": %s}]</TOOLCALL>',
    "command r": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "%s", "parameters": %s}]'
    "<|END_ACTION|>",
    "internlm": '<|action_start|><|plugin|>{"name": "%s", "parameters": %s}<|action_end|>',
    "apertus": '<|tools_prefix|>[{"%s": %s}]<|tools_suffix|>',
    "hunyuan": '<tool_calls>[{"name": "%s", "arguments": %s}]</tool_calls>',
    "hermes, a name first": "<tool_call>%s\n```json\n%s\n```</tool_call>",
    "by its key": '```json\n{"%s": %s}\n```',
    "fence": '```json\n{"name": "%s", "arguments": %s}\n```',
    "fence, of OpenAI": (
        '```\n{"type": "function", "function": {"name": "%s", "arguments": %s}}\n```'
    ),
    "action": '```json\n{"action": "%s", "action_input": %s}\n```',
    "bare": '{"name": "%s", "parameters": %s}',
    "ReAct": "Thought: I have it.\nAction: %s\nAction Input: %s",
    "ReAct, bold": "**Action:** %s\n**Action Input:** %s",
}


@pytest.mark.parametrize("call", [CLICK, TYPE])
@pytest.mark.parametrize("form", DIALECTS.values(), ids=DIALECTS)
def test_a_call_of_any_dialect_is_read(form: str, call: tuple[str, dict[str, object]]) -> None:
    text = form % (call[0], json.dumps(call[1], ensure_ascii=False))
    assert read(text) == [call]
    written = written_calls(f"I see the field.\n{text}", TOOLS)
    assert len(written.calls) == 1
    assert "I see the field." in written.text
    assert call[0] not in written.text


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n<function=type_text>\n<parameter=text>\nGrüße, Ada\n</parameter>\n"
        "<parameter=element>\n2\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>type_text\n<arg_key>text</arg_key>\n<arg_value>Grüße, Ada</arg_value>\n"
        "<arg_key>element</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
        '<invoke name="type_text"><parameter name="text">Grüße, Ada</parameter>'
        '<parameter name="element">2</parameter></invoke>',
        # DeepSeek V3.2 says of each value whether it is text.
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="type_text">\n'
        '<｜DSML｜parameter name="text" string="true">Grüße, Ada</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="element" string="false">2</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        # MiniMax M2.
        '<minimax:tool_call>\n<invoke name="type_text">\n<parameter name="text">Grüße, Ada'
        '</parameter>\n<parameter name="element">2</parameter>\n</invoke>\n</minimax:tool_call>',
        # GLM 4.7 leaves out the line breaks.
        "<tool_call>type_text<arg_key>text</arg_key><arg_value>Grüße, Ada</arg_value>"
        "<arg_key>element</arg_key><arg_value>2</arg_value></tool_call>",
        # Gemma 4 and FunctionGemma have marks for quotation marks.
        '<|tool_call>call:type_text{text:<|"|>Grüße, Ada<|"|>,element:2}<tool_call|>',
        "<start_function_call>call:type_text{text:<escape>Grüße, Ada<escape>,element:2}"
        "<end_function_call>",
        # AndroidWorld's agents.
        'Action: {"action_type": "type_text", "text": "Grüße, Ada", "element": 2}',
        # LFM2 and OLMo 3.
        '<|tool_call_start|>[type_text(text="Grüße, Ada", element=2)]<|tool_call_end|>',
        '<function_calls>\ntype_text(text="Grüße, Ada", element=2)\n</function_calls>',
        # Gemini and Gemma 3.
        '```tool_code\nprint(default_api.type_text(text="Grüße, Ada", element=2))\n```',
        'print(type_text(text="Grüße, Ada", element=2))',
        '<|python_tag|>type_text.call(text="Grüße, Ada", element=2)<|eom_id|>',
        'type_text(text="Grüße, Ada", element=2)',
        "`type_text('Grüße, Ada', 2)`",
        '[type_text(text="Grüße, Ada", element=2)]',
        'I will type now.\n```python\ntype_text(text="Grüße, Ada", element=2)\n```',
        'Action: type_text(text="Grüße, Ada", element=2)',
        'type_text({"text": "Grüße, Ada", "element": 2})',
    ],
)
def test_a_call_with_named_parts_is_read(text: str) -> None:
    assert read(text) == [TYPE]


def test_a_text_that_looks_like_a_number_stays_text_where_the_form_says_so() -> None:
    text = (
        '<｜DSML｜invoke name="type_text"><｜DSML｜parameter name="text" string="true">0042'
        "</｜DSML｜parameter></｜DSML｜invoke>"
    )
    assert read(text) == [("type_text", {"text": "0042"})]


@pytest.mark.parametrize("form", DIALECTS.values(), ids=DIALECTS)
def test_a_call_that_was_written_twice_is_one(form: str) -> None:
    text = form % (CLICK[0], json.dumps(CLICK[1]))
    assert read(f"{text}\n\n{text}") == [CLICK]


def test_every_row_of_the_table_names_its_source_and_can_be_read() -> None:
    for form in forms():
        assert form.source, form.models
        assert all((*form.opens, *form.closes)), form.models
        assert "@" not in "".join((*form.opens, *form.closes, *form.wrappers)), form.models


@pytest.mark.parametrize("form", forms(), ids=lambda form: form.models)
def test_marks_without_end_are_read_in_linear_time(form: Form) -> None:
    for mark in (*form.opens, *form.wrappers, *(o for o, _ in form.parameters)):
        calls = written_calls((mark + "click_element{") * 4000, TOOLS).calls
        assert len(calls) <= 8


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("click_element<|channel|>commentary", "click_element"),
        ("click_element<|channel|>json", "click_element"),
        ("functions.click_element:3", "click_element"),
        ("default_api.click_element", "click_element"),
        ("`click_element`", "click_element"),
        ("assistant.functions.click_element", "click_element"),
        ("click_element", "click_element"),
    ],
)
def test_a_name_is_read_without_what_is_written_around_it(written: str, name: str) -> None:
    assert plain_name(written) == name


def test_arguments_that_were_sent_twice_are_read_once() -> None:
    assert read_json('{"element": 4}{"element": 4}') == {"element": 4}
    with pytest.raises(NotJson):
        read_json('{"element": 4}{"element": 5}')


def test_what_was_thought_aloud_is_no_call() -> None:
    thought = '<think>\nclick_element(element=9)\n<tool_call>{"name": "wait"}</tool_call></think>'
    assert read(f"{thought}\nclick_element(element=4)") == [CLICK]
    assert read(thought) == []


@pytest.mark.parametrize(
    "text",
    [
        "I could call click_element(element=4), but the page is still loading.",
        "The button [4] says click_element.",
        '{"element": 4}',
        '{"name": "Ada", "arguments": {}}',
        '```json\n{"name": "Ada"}\n```',
        "print('hello')",
        "os.system('rm -rf /')",
        "Nothing is to be done.",
        "",
    ],
)
def test_words_are_no_call(text: str) -> None:
    assert written_calls(text, TOOLS).calls == ()
    assert written_calls(text, TOOLS).text == text


def test_several_calls_without_marks_are_none() -> None:
    written = written_calls("1. click_element(element=4)\n2. click_element(element=5)", TOOLS)
    assert (written.calls, written.several) == ((), True)
    fence = '```json\n{"name": "click_element", "arguments": {"element": 4}}\n```'
    twice = f"click_element(element=4)\n\n{fence}"
    assert read(twice) == [CLICK]


_TYPE = '{"name": "type_text", "arguments": {"text": "Ada", "element": 3}}'
_PRESS = '{"tool": "click_element", "element": 4}'


@pytest.mark.parametrize(
    "block",
    [
        f"[{_TYPE}, {_PRESS}]",
        f"```json\n[{_TYPE}, {_PRESS}]\n```",
        f"```json\n[\n  {_TYPE},\n  {_PRESS}\n]\n```",
        f"```\n{_TYPE}\n{_PRESS}\n```",
        '```python\ntype_text(text="Ada", element=3)\nclick_element(element=4)\n```',
        f'```json\n{{"tool_calls": [{_TYPE}, {_PRESS}]}}\n```',
    ],
)
@pytest.mark.parametrize("around", ["%s", "I fill in the form.\n\n%s", "%s\n\nThen I look."])
def test_calls_in_one_block_are_meant_together_and_in_order(block: str, around: str) -> None:
    written = written_calls(around % block, TOOLS)
    assert [call.name for call in written.calls] == ["type_text", "click_element"]
    assert not written.several
    assert "click_element" not in written.text


@pytest.mark.parametrize("form", DIALECTS.values(), ids=DIALECTS)
def test_a_call_that_stands_on_the_screen_is_not_the_models_own(form: str) -> None:
    text = form % ("finish", '{"success": true, "summary": "ok"}')
    # As a screen is written: quotation marks within a label are apostrophes.
    screen = '[7] text: "' + text.replace('"', "'") + '"'
    assert read(f"The note says:\n{text}", quoted=screen) == []
    assert len(read(f"The note says:\n{text}", quoted="[7] text: something")) == 1


@pytest.mark.parametrize("call", ["click_elemnt", "fly"])
def test_an_unknown_name_between_marks_is_answered_as_a_call(call: str) -> None:
    text = f'<tool_call>{{"name": "{call}", "arguments": {{}}}}</tool_call>'
    assert read(text) == [(call, {})]


def test_broken_arguments_between_marks_are_kept_so_that_their_place_is_told() -> None:
    (call,) = written_calls('<tool_call>{"name": "wait", "arguments": {"seconds": ]', TOOLS).calls
    assert call.name == "wait"
    with pytest.raises(NotJson):
        read_json(call.arguments)


@given(
    st.lists(
        st.sampled_from(
            [*DIALECTS.values(), "<tool_call>", "```", "(", "{", '"', "[TOOL_CALLS]", "%s", "\n"]
        )
        | st.text(max_size=12)
    ).map("".join)
)
@settings(deadline=None, max_examples=150)
def test_any_text_is_read_without_an_error(text: str) -> None:
    written = written_calls(text, TOOLS, quoted=text[:10])
    assert len(written.calls) <= 8 * 8
    assert all(call.name for call in written.calls)


def test_a_long_text_is_read_in_good_time() -> None:
    for piece in (
        "<tool_call>",
        "{",
        "[TOOL_CALLS]{",
        "```\n",
        "a(",
        "<function=a>{",
        "Action: a\n",
    ):
        written_calls(piece * 4000, TOOLS)


# --- JSON with slips ----------


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": [2, 3]}',
        '{"a": 1, "b": [2, 3]',
        '{"a": 1, "b": [2, 3',
        '{"a": 1, "b": [2, 3,],}',
        "{'a': 1, 'b': [2, 3]}",
        '{"a": 1, "b": [2, 3]}}',
        '{"a": 1, "b": [2, 3]}```',
        "{“a”: 1, “b”: [2, 3]}",
        json.dumps('{"a": 1, "b": [2, 3]}'),
        ' \n{"a": 1,\n "b": [2, 3}',
    ],
)
def test_a_slip_that_can_mean_one_thing_only_is_read(text: str) -> None:
    assert read_json(text) == {"a": 1, "b": [2, 3]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"text": "Hello Wor', "break off inside a text, after"),
        ('{"text": "Hello", "element": }', "at character 30"),
        ('{"element" 4}', 'after `{"element" `'),
        ("click it", "at character 1"),
        ("", "the end"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_names_the_place(text: str, said: str) -> None:
    with pytest.raises(NotJson) as caught:
        read_json(text)
    assert said in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(), v, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_whole_json_is_read_as_it_is(value: dict[str, object]) -> None:
    assert read_json(json.dumps(value)) == value


@given(st.dictionaries(st.text(min_size=1), st.text(min_size=1), min_size=1), st.data())
def test_a_text_that_was_cut_is_never_completed(value: dict[str, str], data: st.DataObject) -> None:
    whole = json.dumps(value)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    try:
        found = read_json(cut)
    except NotJson:
        return
    assert isinstance(found, dict)
    assert found.items() <= value.items()


@pytest.mark.parametrize(
    "text",
    [
        "I see the button, so I press it: click_element(element=4)",
        "I see the list.\nIts row is there. `click_element(element=4)`.",
        "I press Save -> click_element(element=4)",
        'Next (as planned): {"name": "click_element", "arguments": {"element": 4}}',
    ],
)
def test_a_call_that_ends_a_line_of_words_is_read(text: str) -> None:
    assert read(text) == [CLICK]
    assert "click_element" not in written_calls(text, TOOLS).text


@pytest.mark.parametrize(
    "text",
    [
        "I should not do this: click_element(element=4)",
        "That needs one call. Never use this one: click_element(element=4)",
        "There are ways on, for example: click_element(element=4)",
        "One: click_element(element=3). Two: click_element(element=4)",
        "I pressed it. click_element(element=4) and the page opened.",
        "I don’t do it: click_element(element=4)",
    ],
)
def test_a_call_that_is_only_spoken_of_is_none(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "press_key", "arguments": {"key": "BACK"}}', "press_key"),
        ('```json\n{"tool": "swipe_up", "args": {}}\n```', "swipe_up"),
        ("press_key(key='BACK')", "press_key"),
        ("print('hello')", ""),
        ('{"name": "Ada", "age": 36}', ""),
        ("Nothing is to be done.", ""),
    ],
)
def test_a_call_of_no_tool_says_which_it_names(text: str, name: str) -> None:
    written = written_calls(text, TOOLS)
    assert (written.calls, written.unknown) == ((), name)

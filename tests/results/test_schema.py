"""An operator's JSON Schema is bounded, fetches nothing, and says exactly what does not fit."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.results.schema import MAX_RESULT_CHARS, SchemaMismatchError, check_result, checked_schema

ITEM = {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}


def schema(raw: object) -> str:
    return checked_schema(json.dumps(raw))


def test_references_within_are_unfolded_so_that_the_shape_may_stand_in_a_tool() -> None:
    made = schema(
        {
            "$defs": {"item": ITEM},
            "type": "object",
            "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
        }
    )
    assert "$ref" not in made
    assert check_result(made, {"items": [{"price": 2.5}]}) == {"items": [{"price": 2.5}]}


def test_what_does_not_fit_is_named_by_its_place() -> None:
    made = schema({"type": "object", "properties": {"items": {"type": "array", "items": ITEM}}})
    with pytest.raises(
        SchemaMismatchError, match=r"result\.items\[1\]\.price: 'abc' is not of type 'number'"
    ):
        check_result(made, {"items": [{"price": 1}, {"price": "abc"}]})


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"$ref": "https://example.org/schema.json"}, "nothing is fetched"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "nothing is fetched"),
        ({"properties": {"a": {"items": {"$ref": "x.json"}}}}, "x.json at $.properties.a.items"),
        ({"$ref": "#"}, "refers to itself"),
        ({"$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}, "to itself"),
        ({"$ref": "#/$defs/none"}, "which it does not have"),
        ({"$dynamicRef": "#a"}, "not supported"),
        ({"properties": {"a": {"$id": "https://example.org/"}}}, "not supported"),
        ({"$schema": "https://example.org/dialect"}, "dialect that is not known"),
        ({"type": "strnig"}, "is not valid at"),
        ({"type": "string", "pattern": "("}, "pattern at $.pattern that cannot be used"),
        ({"patternProperties": {"[": {}}}, "pattern at $.patternProperties that cannot be used"),
        ({"description": "x" * 40_000}, "is larger than"),
        ([], "is not a JSON object"),
        ({"enum": 3}, "is not valid at"),
    ],
)
def test_a_hostile_schema_is_refused_with_the_reason(raw: object, said: str) -> None:
    with pytest.raises(UsageError, match="The output schema") as refused:
        schema(raw)
    assert said in refused.value.message
    with pytest.raises(UsageError, match="The input schema"):
        checked_schema(json.dumps(raw), "input schema")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a":' * 9000, "null", "3", "\x00"])
def test_what_is_no_schema_at_all_is_refused_or_none(text: str) -> None:
    if not text:
        assert checked_schema(text) == ""
        return
    with pytest.raises(UsageError):
        checked_schema(text)


def test_references_that_multiply_are_refused_before_they_are_unfolded() -> None:
    defs: dict[str, object] = {"d0": {"type": "string"}}
    for at in range(1, 40):
        defs[f"d{at}"] = {"anyOf": [{"$ref": f"#/$defs/d{at - 1}"}] * 2}
    began = time.monotonic()
    with pytest.raises(UsageError, match=r"levels deep|parts once its references"):
        schema({"$defs": defs, "$ref": "#/$defs/d39"})
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("pattern", [r"^(a|aa)+$", r"^(\d|\d\d)+$", r"^(xy|x|y)+$"])
def test_a_pattern_that_backtracks_for_ever_is_refused_with_its_place(pattern: str) -> None:
    with pytest.raises(UsageError, match="too long") as refused:
        schema({"properties": {"code": {"type": "string", "pattern": pattern}}})
    assert "$.properties.code.pattern" in refused.value.message
    assert "repeats" in refused.value.remedy


@pytest.mark.parametrize(
    "pattern", [r"^\d{4}-\d\d$", r"^[A-Z][a-z]+( [A-Z][a-z]+)*$", r"^[\w.]+@([\w-]+\.)+\w+$"]
)
def test_a_pattern_that_is_checked_quickly_is_taken(pattern: str) -> None:
    assert schema({"pattern": pattern})


def test_a_stored_pattern_that_backtracks_for_ever_is_given_up() -> None:
    # Stored by a version that did not try patterns.
    made = json.dumps({"type": "array", "items": {"type": "string", "pattern": r"^(a|aa)+$"}})
    with pytest.raises(SchemaMismatchError, match="took longer"):
        check_result(made, ["a" * 40 + "!" for _ in range(50)])


def test_words_that_are_data_are_no_keywords() -> None:
    made = schema({"enum": [{"$ref": "https://example.org"}, 1], "default": {"$id": "x"}})
    assert check_result(made, 1) == 1


def test_properties_may_be_called_as_keywords_are() -> None:
    made = schema(
        {"$defs": {"s": {"type": "string"}}, "properties": {"default": {"$ref": "#/$defs/s"}}}
    )
    with pytest.raises(SchemaMismatchError, match=r"result\.default"):
        check_result(made, {"default": 3})


def test_nulls_for_what_may_be_left_out_are_taken_as_left_out() -> None:
    made = schema({"type": "object", "properties": {"a": {"type": "string"}}})
    assert check_result(made, {"a": None}) == {}


def test_a_result_without_end_is_refused() -> None:
    with pytest.raises(SchemaMismatchError, match="at most"):
        check_result(schema({}), ["x" * MAX_RESULT_CHARS])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=12),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "$ref", "properties", "items", "anyOf", "enum", "x"]),
                inner,
            )
        ),
        max_leaves=15,
    )
)
def test_whatever_is_given_as_a_schema_is_taken_or_refused_in_words(raw: object) -> None:
    try:
        made = schema(raw)
    except UsageError as error:
        assert error.message.startswith("The output schema")
        return
    try:
        check_result(made, {"a": [1, "b", None]})
    except SchemaMismatchError as error:
        assert str(error)

"""Changes between JSON values."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from botdrome.match.film import change_between
from tests.match.films import applied

keys = st.sampled_from(["a", "b", "c", "length", "0"])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 2.5])
    | st.sampled_from(["", "x", "length"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.no_cover
@given(values, values)
def test_a_change_leads_from_one_value_to_the_other(old: Any, new: Any) -> None:
    change = change_between(old, new)
    before, wanted = msgspec.json.encode(old), msgspec.json.encode(new)
    assert (change is None) == (before == wanted)
    made = old if change is None else applied(msgspec.json.decode(msgspec.json.encode(change)), old)
    assert msgspec.json.encode(made) == wanted
    assert msgspec.json.encode(old) == before


@pytest.mark.no_cover
@given(values, values)
def test_a_change_takes_no_more_space_than_the_value(old: Any, new: Any) -> None:
    change = change_between(old, new)
    assert change is None or len(msgspec.json.encode(change)) <= len(msgspec.json.encode([new]))


LONG = "a long text that nobody wants to repeat"


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (1, 1, None),
        (1, 2, [2]),
        (1, True, [True]),
        ({"a": LONG, "b": 1}, {"a": LONG, "b": 2}, {"b": [2]}),
        ({"a": LONG, "b": 1}, {"a": LONG}, {"b": []}),
        ({"a": LONG}, {"a": LONG, "b": []}, {"b": [[]]}),
        ({"a": LONG, "b": 1}, {"b": 1, "a": LONG}, [{"b": 1, "a": LONG}]),
        ([LONG, 1, 2], [LONG, 1, 3], {"2": [3]}),
        ([LONG, 1], [LONG, 1, 2], {"2": [2]}),
        ([LONG, 1, 2], [LONG], {"length": [1]}),
        ([[LONG, 1]], [[LONG, 2]], {"0": {"1": [2]}}),
        ([1, 2, 3], [4, 5, 6], [[4, 5, 6]]),
    ],
)
def test_the_change_by_example(old: Any, new: Any, change: Any) -> None:
    assert change_between(old, new) == change

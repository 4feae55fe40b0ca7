"""Requests of Bomberman bots: JSON, Python literals and forms, valid and invalid."""

import ast
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from botdrome.wire.bomber.request import (
    DEFAULT,
    LITERAL,
    LONGEST_LITERAL,
    BadLiteral,
    BadRequest,
    Shape,
    read_form,
    read_literal,
    read_message,
    read_name,
    read_number,
    read_shape,
    read_switch,
    unquoted,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.tuples(st.integers(), st.integers()), inner)
    ),
    max_leaves=12,
)


@pytest.mark.no_cover
@given(VALUES)
def test_a_literal_that_python_writes_is_read_as_python_reads_it(value: Any) -> None:
    assert read_literal(repr(value)) == value


@example("0\n,")
@example("'a'\n'b'")
@given(st.text(alphabet="{}[]()'\"\\,:-+0123456789eE._ \nxuTrueNone", max_size=30))
def test_no_text_is_read_that_python_would_not_read(text: str) -> None:
    try:
        value = read_literal(text)
    except BadLiteral:
        return
    if any(word in text for word in ("true", "false", "null")) or text[:1].isspace():
        return
    try:
        assert ast.literal_eval(text) == value
    except SyntaxError as fault:
        assert "leading zeros" in str(fault) or "escape" in str(fault), "these two are forgiven"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'user_name': 'Example_bot_1'}", {"user_name": "Example_bot_1"}),
        ('{"a": True, \'b\': None, "c": false, "d": null, "e": '
         'true}', {"a": True, "b": None, "c": False, "d": None, "e": True}),
        ("{(0, 0): {'x': (1,)}, (0, 1): (), }", {(0, 0): {"x": (1,)}, (0, 1): ()}),
        ("(1)", 1),
        (r"u'a\n\x41\u00e9\U0001F600\'\"\\\q\101\0\
b'", "a\nA\u00e9\U0001F600'\"\\\\qA\0b"),
        ("[-1, +2, 1_000, 1.5, .5, 1e3,]", [-1, 2, 1000, 1.5, 0.5, 1000.0]),
        ("  {\n'a'\t:1}  ", {"a": 1}),
    ],
)  # fmt: skip
def test_literals(text: str, value: Any) -> None:
    assert read_literal(text) == value


HOSTILE = [
    ("{'a': 1 + 1}", "this is not a literal, from character 7 on"),
    ("__import__('os')", "this is not a literal"),
    ("open('x')", "this is not a literal"),
    ("NaN", "this is not a literal"),
    ("f'{x}'", "this is not a literal"),
    ("b'x'", "this is not a literal"),
    ("'''a'''", "this is not a literal"),
    ("1 if 1 else 2", "this is not a literal, from character 1 on"),
    ("1True", "this is not a literal"),
    ("-" * 4000 + "1", "this is not a literal"),
    ("'open", "this is not a literal"),
    ("", "this is not a literal"),
    ("{", "this is not a literal"),
    ("{'a': 1", "this is not a literal"),
    ("{'a' 1}", "this is not a literal"),
    ("{'a': 1} 1", "this is not a literal"),
    ("[1 2]", "this is not a literal"),
    ("1 -1", "this is not a literal"),
    ("{[]: 1}", "this is not a literal"),
    ("1__0", "this is not a literal"),
    (",", "this is not a literal"),
    ("'\\x4'", "this is not a literal"),
    ("'\\UFFFFFFFF'", "this is not a literal"),
    ("'\\ud800'", "there is no character"),
    ("'\\U0000DFFF'", "there is no character"),
    ("'\\N{DASH}'", "there is no character"),
    ("'\\477'", "there is no character"),
    ("9" * 65, "a number has too many digits"),
    ("9" * 4000, "a number has too many digits"),
    ("[" * 4000, "it is nested more than 32 deep"),
    ("{1:" * 1000, "it is nested more than 32 deep"),
    ("(" * 4000, "it is nested more than 32 deep"),
    ("[" * 60_000, "a literal has at most 4096 characters"),
]


@pytest.mark.parametrize(("text", "words"), HOSTILE)
def test_what_is_no_literal_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(BadLiteral) as caught:
        read_literal(text)
    assert words in str(caught.value)


def test_a_literal_may_have_this_many_characters_and_no_more() -> None:
    longest = "'" + "x" * (LONGEST_LITERAL - 2) + "'"
    assert read_literal(longest) == longest[1:-1]
    with pytest.raises(BadLiteral):
        read_literal(longest + " ")


PARTS = (
    b'--X\r\nContent-Disposition: form-data; name="user_name"\r\n\r\nZo\xc3\xab = --X\r\n'
    b"--X\r\ncontent-disposition: form-data; name=password\r\nContent-Type: text/plain\r\n\r\na\r\n"
    b"b\r\n"
    b"--X\r\nX-Odd: yes\r\n\r\nnothing\r\n--X--\r\n"
)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", {}),
        (PARTS, {"user_name": "Zoë = --X", "password": "a\r\nb"}),
        (
            PARTS.replace(b"X", b"-" * 26 + b"7f"),
            {"user_name": "Zoë = --" + "-" * 26 + "7f", "password": "a\r\nb"},
        ),
        (b"--X--\r\n", {}),
        (b"  \r\n", {}),
        (b'{"user_name": "Ada"}', {"user_name": "Ada"}),
        (b"\xef\xbb\xbf" + '{"user_name": "Zoë"}'.encode(), {"user_name": "Zoë"}),
        (b"{'user_name': 'Ada'}", {"user_name": "Ada"}),
        (b"{'user_id': 'abc', 'action': 'MOVE_UP',}", {"user_id": "abc", "action": "MOVE_UP"}),
        (b"user_name=Ada+L%2E&password=a%3Db&", {"user_name": "Ada L.", "password": "a=b"}),
        (b"{1: 2}", {"1": 2}),
        (b'{"a": 1e999}', None),
    ],
)
def test_messages(body: bytes, message: dict[str, Any] | None) -> None:
    if message is None:
        assert not isinstance(read_message(body)["a"], int)
    else:
        assert read_message(body) == message


@pytest.mark.parametrize(
    "body",
    [
        b"[1, 2]",
        b'"MOVE_UP"',
        b"MOVE_UP",
        b"17",
        b"null",
        b"{",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"user_name": "\xff"}',
        b"\xff\xfe{\x00}\x00",
        b"{" * 60_000,
        b'{"a":' * 10_000,
        b"[" * 60_000,
        b'{"a": ' + b"9" * 60_000 + b"}",
        b"<user_name>Ada</user_name>",
        b"a=%ff",
        PARTS.replace(b"\xab", b"\xff"),
    ],
)
def test_what_is_no_message_is_refused_in_words(body: bytes) -> None:
    with pytest.raises(BadRequest) as caught:
        read_message(body)
    assert caught.value.word == "BAD_MESSAGE"
    assert caught.value.sentence
    assert len(str(caught.value)) < 200


def test_a_form_has_so_many_fields_and_no_more() -> None:
    assert len(read_form(b"&".join(b"a%d=1" % number for number in range(1000)))) == 100
    assert read_form(b"a&b=&=c") == {"a": "", "b": "", "": "c"}
    assert unquoted(b"a%20b%zz%e2%82%ac+") == "a b%zz€+"


@pytest.mark.parametrize(
    "name", ["A", "x" * 32, "Zoë the 2nd", "a%b", " Ada", "Ada ", "🐝", 'O\'Hara \\ "q"']
)
def test_good_names(name: str) -> None:
    assert read_name(name) == name


@pytest.mark.parametrize(
    ("name", "word"),
    [
        (None, "MISSING_FIELD"),
        ("", "MISSING_FIELD"),
        (17, "BAD_NAME"),
        (["Ada"], "BAD_NAME"),
        ("x" * 33, "BAD_NAME"),
        ("a/b", "BAD_NAME"),
        ("a\nb", "BAD_NAME"),
        ("a\x00", "BAD_NAME"),
        ("  ", "BAD_NAME"),
        ("Ada\u00a0", "BAD_NAME"),
        ("\u202eevil", "BAD_NAME"),
        (json.loads('"\\ud800"'), "BAD_NAME"),
    ],
)
def test_bad_names(name: Any, word: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read_name(name)
    assert caught.value.word == word


def test_numbers() -> None:
    assert [read_number(value, "after") for value in (None, "", 7, "7", "007")] == [
        None,
        None,
        7,
        7,
        7,
    ]
    bad: Any
    for bad in ("x", 1.5, True, "9" * 19, "-1", "²", [], {}, float("nan"), float("inf")):
        with pytest.raises(BadRequest, match="BAD_FIELD: after is a whole number"):
            read_number(bad, "after")


def test_switches() -> None:
    assert [read_switch(value, "sparse") for value in (None, "", "0", "off", "1", "TRUE")] == [
        False
    ] * 4 + [True] * 2
    with pytest.raises(BadRequest, match="BAD_FIELD: sparse is 1 or 0"):
        read_switch("2", "sparse")


def test_shapes() -> None:
    assert read_shape({}) is DEFAULT
    assert read_shape({}, "text/html, text/x-python;q=0.9") is LITERAL
    assert read_shape({"after": "3"}) == DEFAULT
    assert read_shape({"state": "GRID", "keys": "comma", "sparse": "1"}) == Shape(
        "grid", "comma", True, False
    )
    assert read_shape({"format": "python"}) == LITERAL
    assert read_shape({"format": "json"}, "text/x-python") == DEFAULT
    assert (DEFAULT.content_type, LITERAL.content_type) == (
        "application/json; charset=UTF-8",
        "text/x-python; charset=UTF-8",
    )
    for query in ({"state": "tree"}, {"keys": "colon"}, {"format": "xml"}):
        with pytest.raises(BadRequest, match="BAD_FIELD"):
            read_shape(query)

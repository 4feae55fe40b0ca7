"""Files of mongoexport: documents, their lines, and errors in a file."""

import io
from typing import Any

import pytest

from botdrome.store import battlebot
from botdrome.store.battlebot import documents, moment
from botdrome.store.entries import BadExport
from tests.store.battlebot_database import START, array, lines, pretty

DOCUMENTS = [{"a": 1}, {"b": [{"c": '}],[{ " ü \n'}]}, {}, {"d": None}]


def found(data: bytes) -> list[tuple[int, Any]]:
    return list(documents(io.BytesIO(data)))


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize("written", [lines, array, pretty])
def test_documents_in_every_form_and_in_any_pieces(
    written: Any, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(battlebot, "CHUNK", chunk)
    assert [document for _, document in found(written(*DOCUMENTS))] == DOCUMENTS


def test_each_has_the_line_on_which_it_begins() -> None:
    assert [line for line, _ in found(lines(*DOCUMENTS))] == [1, 2, 3, 4]
    assert [line for line, _ in found(array(*DOCUMENTS))] == [1, 1, 1, 1]
    assert [line for line, _ in found(b"[\n{},\n\n{\n},\n{}]\n")] == [2, 4, 6]


@pytest.mark.parametrize("data", [b"", b"\n", b"[]", b"[\n]\n", b"\xef\xbb\xbf"])
def test_a_file_may_be_empty(data: bytes) -> None:
    assert found(data) == []


def test_a_byte_order_mark_is_no_document() -> None:
    assert found(b'\xef\xbb\xbf{"a": 1}\r\n{}\r\n') == [(1, {"a": 1}), (2, {})]


@pytest.mark.parametrize("chunk", [1, 5, 1 << 20])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{}\n{"a": oops}\n{}\n', "line 2: expecting value: 'oops}"),
        (b'{}\n{\n"a" 1}', "line 3: expecting ':' delimiter: '1}'"),
        (b'{}\n{"a": "cut of', "line 2: unterminated string starting at: '\"cut of'"),
        (b"[{},\n{},\n", "line 3: the file ends inside an array: it was cut off"),
        (b"name,owner\nAda,David\n", "line 1: expecting value: 'name,owner"),
        (b'{}\n"\xff"', "the file is not UTF-8"),
        (b'{}\n{"a": "\xc3', "the file is not UTF-8"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "line 1: the document is nested too deep"),
    ],
)
def test_what_is_no_json_is_named_with_its_line(
    data: bytes, words: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(battlebot, "CHUNK", max(chunk, len(data) // 10))
    with pytest.raises(BadExport) as caught:
        found(data)
    assert words in str(caught.value)


class Endless(io.RawIOBase):
    """Documents without end, and the bytes that were read of them."""

    def __init__(self, data: bytes) -> None:
        self._data, self.read_so_far = data, 0

    def read(self, size: int = -1) -> bytes:
        self.read_so_far += size
        return (self._data * (size // len(self._data) + 1))[:size]


def test_only_as_much_is_read_as_is_needed() -> None:
    source = Endless(b"{}\n" * 1024)
    stream = documents(source)  # type: ignore[arg-type]
    for number in range(1, 1000):
        assert next(stream)[0] == number
    assert source.read_so_far == battlebot.CHUNK


def test_a_document_without_end_is_not_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(battlebot, "LONGEST", 4096)
    monkeypatch.setattr(battlebot, "CHUNK", 1024)
    source = Endless(b'{"a":')
    with pytest.raises(BadExport, match="line 1"):
        next(documents(source))  # type: ignore[arg-type]
    assert source.read_so_far <= 3 * 4096


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('{"$oid": "598758d3f36d2873f6b1a5c1"}', "598758d3f36d2873f6b1a5c1"),
        ('{"$numberInt": "7"}', 7),
        ('{"$numberLong": "1502042643123"}', START),
        ('{"$numberLong": 5}', 5),
        ('{"$numberDouble": "1.5"}', 1.5),
        ('{"$date": "2017-08-06T18:04:03.123Z"}', START),
        ('{"$date": "2017-08-06T19:04:03.123+0100"}', START),
        ('{"$date": {"$numberLong": "1502042643123"}}', START),
        ('{"$date": 1502042643123}', START),
        ('{"$date": "never"}', {"$date": "never"}),
        ('{"$numberLong": []}', {"$numberLong": []}),
        ('{"$other": 1}', {"$other": 1}),
        ('{"$oid": "x", "y": 1}', {"$oid": "x", "y": 1}),
    ],
)
def test_types_that_json_lacks(written: str, value: Any) -> None:
    assert found(f'{{"it": {written}}}'.encode()) == [(1, {"it": value})]


@pytest.mark.parametrize(
    ("value", "when"),
    [
        (START, START),
        (float(START), START),
        ("2017-08-06T18:04:03.123Z", START),
        ("2017-08-06T18:04:03.123", START),
        ("Sun Aug 06 2017 19:04:03 GMT+0100 (GMT Daylight Time)", START - 123),
    ],
)
def test_times_in_every_form(value: Any, when: int) -> None:
    assert moment(value) == when


@pytest.mark.parametrize("value", [None, "", "soon", 1 << 60, float("inf"), {"$date": "never"}])
def test_what_is_no_time(value: Any) -> None:
    with pytest.raises(ValueError, match=r"time|format"):
        moment(value)

"""The page about contest documents: every key is there, and every example is a document."""

import re
from pathlib import Path

import pytest

from botdrome.contest.document import KEYS, ContestDocument, read_document
from botdrome.contest.progress import CONTEST_FORMATS

PAGE = (Path(__file__).parents[2] / "docs" / "contest-documents.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("key", sorted(set(KEYS) - {"entry", "clock", "penalties", "entrants"}))
def test_every_key_has_a_row(key: str) -> None:
    assert f"\n| `{key}` |" in PAGE


def test_every_format_has_an_example_that_is_a_document() -> None:
    documents: list[ContestDocument] = [read_document(example) for example in EXAMPLES]
    assert {document.format_ for document in documents} == set(CONTEST_FORMATS)


def test_the_example_of_a_refusal_is_what_a_reader_sees() -> None:
    with pytest.raises(ValueError, match="rounds") as refused:
        read_document('name = "a"\ngame = "gomoku"\nformat = "swiss"\nrounds = 0\n')
    assert f"\n{refused.value}\n" in PAGE

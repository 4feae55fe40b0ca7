"""The pages' types of REST answers are those of the server."""

from tools import web_types


def test_the_types_of_the_pages_are_current() -> None:
    assert web_types.TARGET.read_text() == web_types.text(), "run `python -m tools.web_types`"

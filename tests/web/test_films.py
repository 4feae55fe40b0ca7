"""The films that the tests of the pages show are those that the server makes."""

from tools import web_films


def test_the_films_of_the_pages_are_current() -> None:
    for file, film in web_films.films():
        assert file.read_bytes() == film, "run `python -m tools.web_films`"

"""Tokens of bots are kept in the user's config folder, for this user alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from botdrome.client.kept_tokens import (
    KeptBot,
    UnusableTokens,
    changing_tokens,
    kept_bots,
    tokens_file,
)

ADD = """
import sys
from botdrome.client.kept_tokens import KeptBot, changing_tokens
for number in range(20):
    with changing_tokens() as servers:
        servers.setdefault("http://a", {})[f"{sys.argv[1]} {number}"] = KeptBot("gomoku", "x")
"""


@pytest.fixture(autouse=True)
def _config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_a_token_is_kept_for_its_user_alone() -> None:
    assert kept_bots() == {}
    with changing_tokens() as servers:
        servers["http://a"] = {"ada": KeptBot("gomoku", "secret")}
    assert kept_bots() == {"http://a": {"ada": KeptBot("gomoku", "secret")}}
    assert tokens_file().stat().st_mode & 0o777 == 0o600
    assert tokens_file().parent.stat().st_mode & 0o777 == 0o700
    assert sorted(file.name for file in tokens_file().parent.iterdir()) == [
        "tokens.json",
        "tokens.lock",
    ]


def test_the_config_folder_of_the_user_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert tokens_file() == Path.home() / ".config" / "botdrome" / "tokens.json"


def test_nothing_is_written_after_an_exception() -> None:
    with pytest.raises(RuntimeError), changing_tokens() as servers:
        servers["http://a"] = {}
        raise RuntimeError
    assert kept_bots() == {}


def test_two_commands_at_once_keep_all_tokens() -> None:
    commands = [subprocess.Popen([sys.executable, "-c", ADD, name]) for name in ("ada", "bob")]
    assert [command.wait() for command in commands] == [0, 0]
    assert len(kept_bots()["http://a"]) == 40


def test_a_damaged_file_is_reported_and_left_alone() -> None:
    tokens_file().parent.mkdir(parents=True)
    tokens_file().write_text('{"http://a": 7}')
    with pytest.raises(
        UnusableTokens,
        match=r"tokens\.json is damaged \(Expected `object`, got `int`.*move it away",
    ):
        kept_bots()
    with pytest.raises(UnusableTokens), changing_tokens():
        pass
    assert tokens_file().read_text() == '{"http://a": 7}'


def test_a_folder_that_cannot_be_made_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    with pytest.raises(UnusableTokens, match="Not a directory"), changing_tokens():
        pass
    with pytest.raises(UnusableTokens, match="Not a directory"):
        kept_bots()

"""Settings: from flags, the environment and a file, and refused by name."""

from pathlib import Path
from typing import Any

import pytest

from botdrome.server.settings import BadSetting, Settings, described, load_settings


def test_flags_go_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "botdrome.toml"
    file.write_text('port = 1000\nhost = "0.0.0.0"\nhouse = true\ndrain = 5\n')
    settings = load_settings({"port": 3, "host": None}, {"BOTDROME_PORT": "2", "BOTDROME_HOST": "::1", "OTHER": "x"}, file)
    assert (settings.port, settings.host, settings.house, settings.drain) == (3, "::1", True, 5.0)


@pytest.mark.parametrize(
    ("flags", "environment", "port"),
    [
        ({}, {}, 1000),
        ({}, {"PORT": ""}, 1000),
        ({}, {"PORT": "4000"}, 4000),
        ({}, {"PORT": "4000", "BOTDROME_PORT": "0"}, 0),
        ({"port": 5}, {"PORT": "4000", "BOTDROME_PORT": "2"}, 5),
        ({"port": 5}, {"PORT": "tcp://10.0.0.1:80"}, 5),
    ],
)
def test_the_port_is_also_read_from_the_variable_of_the_original(
    tmp_path: Path, flags: dict[str, Any], environment: dict[str, str], port: int
) -> None:
    file = tmp_path / "botdrome.toml"
    file.write_text("port = 1000\n")
    assert load_settings(flags, environment, file).port == port


def test_a_port_of_the_environment_that_does_not_fit_is_named() -> None:
    with pytest.raises(BadSetting, match=r"port: expected `int`, got `str`, not 'tcp://10\.0\.0\.1:80'"):
        load_settings({}, {"PORT": "tcp://10.0.0.1:80"}, None)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"port": "many"}, "port: expected `int`, got `str`, not 'many'"),
        ({"port": 99999}, "port: expected `int` <= 65535, not 99999"),
        ({"drain": -1}, "drain: expected `float` >= 0.0, not -1"),
        ({"log_level": "loud"}, "log_level: expected `str` matching regex"),
        ({"colour": "red"}, "there is no setting 'colour'"),
    ],
)
def test_what_does_not_fit_is_named(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(BadSetting) as caught:
        load_settings(flags, {}, None)
    assert str(caught.value).startswith(words)


def test_the_environment_is_named_too() -> None:
    with pytest.raises(BadSetting, match="message_burst: expected"):
        load_settings({}, {"BOTDROME_MESSAGE_BURST": "none"}, None)


@pytest.mark.parametrize("name", ["BOTDROME_NOSUCH", "BOTDROME_port", "BOTDROME_", "BOTDROME_PORT_3000_TCP"])
def test_a_variable_that_is_no_setting_is_named(name: str) -> None:
    with pytest.raises(BadSetting, match=f"there is no setting for the variable {name}$"):
        load_settings({}, {name: "x"}, None)


def test_variables_of_other_commands_are_left_alone() -> None:
    others = {"BOTDROME_SERVER": "http://arena", "BOTDROME_TOKEN": "x", "BOTDROMEDARY": "x"}
    assert load_settings({}, others | {"BOTDROME_HOST_TOKEN": "y"}, None) == Settings(host_token="y")


@pytest.mark.parametrize("text", ["port = ", "port = 1\nport = 2", b"\xff"])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, text: str | bytes) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadSetting, match=r"bad\.toml: "):
        load_settings({}, {}, file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="No such file"):
        load_settings({}, {}, tmp_path / "missing.toml")


def test_every_setting_says_what_it_means() -> None:
    assert [key for key, _, _ in described()] == list(Settings.__struct_fields__)
    assert all(meaning for _, _, meaning in described())


def test_the_store_is_a_file_of_the_user_unless_told_otherwise() -> None:
    assert Settings().store_url.startswith("sqlite:///")
    assert Settings().store_url.endswith("botdrome.db")
    assert Settings(db="postgresql://ada:secret@host/db").store_shown == "postgresql://ada:...@host/db"

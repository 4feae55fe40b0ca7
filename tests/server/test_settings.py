"""Settings come from flags, the environment and a file; a bad one is refused by its name, and an
old name still works.
"""

from pathlib import Path
from typing import Any

import pytest

from botdrome.protocols import load_settings, protocol_sections
from botdrome.server.rooms.boat_settings import BoatsSection
from botdrome.server.rooms.duel import DuelSection
from botdrome.server.settings import RENAMED, BadSetting, LimitsSection, Settings, all_settings


def written(folder: Path, text: str) -> Path:
    file = folder / "botdrome.toml"
    file.write_text(text)
    return file


def test_flags_override_the_environment_and_that_overrides_the_file(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        'port = 1000\nhost = "0.0.0.0"\ndrain = 5\n[house]\nfill = true\n[duel]\nport = 7\n'
        "window = 2\n",
    )
    flags = {"port": 3, "host": None, "duel.port": "8"}
    settings = load_settings(
        flags,
        {"BOTDROME_PORT": "2", "BOTDROME_HOST": "::1", "BOTDROME_DUEL_PORT": "9", "OTHER": "x"},
        file,
    )
    assert (settings.port, settings.host, settings.house.fill, settings.drain) == (
        3,
        "::1",
        True,
        5.0,
    )
    assert settings.of(DuelSection) == DuelSection(port=8, window=2.0)
    assert settings.of(BoatsSection) == BoatsSection()


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
    assert load_settings(flags, environment, written(tmp_path, "port = 1000\n")).port == port


def test_a_bad_port_in_the_environment_is_named() -> None:
    with pytest.raises(
        BadSetting, match=r"port: expected `int`, got `str`, not 'tcp://10\.0\.0\.1:80'"
    ):
        load_settings({}, {"PORT": "tcp://10.0.0.1:80"})


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"port": "many"}, "port: expected `int`, got `str`, not 'many'"),
        ({"duel_port": 99999}, "duel.port: expected `int` <= 65535, not 99999"),
        ({"drain": -1}, "drain: expected `float` >= 0.0, not -1"),
        ({"log.level": "loud"}, "log.level: expected `str` matching regex"),
        ({"colour": "red"}, "there is no setting 'colour'"),
        ({"duel.colour": "red"}, "there is no setting 'duel.colour'"),
        ({"protocols": "duel"}, "there is no setting 'protocols'"),
        ({"boats.rooms": "{"}, "boats.rooms: "),
    ],
)
def test_a_bad_setting_is_named(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(BadSetting) as caught:
        load_settings(flags)
    assert str(caught.value).startswith(words)


def test_a_bad_variable_is_named() -> None:
    with pytest.raises(BadSetting, match=r"message\.burst: expected"):
        load_settings({}, {"BOTDROME_MESSAGE_BURST": "none"})


@pytest.mark.parametrize(
    "name",
    ["BOTDROME_NOSUCH", "BOTDROME_port", "BOTDROME_", "BOTDROME_PORT_3000_TCP", "BOTDROME_DUEL"],
)
def test_a_variable_that_is_no_setting_is_named(name: str) -> None:
    with pytest.raises(BadSetting, match=f"there is no setting for the variable {name}$"):
        load_settings({}, {name: "x"})


def test_a_setting_that_is_gone_says_what_happens_now(tmp_path: Path) -> None:
    file = tmp_path / "botdrome.toml"
    file.write_text('[cluster]\nhold_news = "memory"\n')
    gone = "is gone: news of a move leaves at once, .* remove it$"
    with pytest.raises(BadSetting, match=f"^the setting cluster.hold_news {gone}"):
        load_settings({}, file=file)
    with pytest.raises(BadSetting, match=f"^the setting cluster.hold_news {gone}"):
        load_settings({"cluster_hold_news": "no"})
    with pytest.raises(BadSetting, match=f"^the setting BOTDROME_CLUSTER_HOLD_NEWS {gone}"):
        load_settings({}, {"BOTDROME_CLUSTER_HOLD_NEWS": "no"})


def test_variables_of_other_commands_are_ignored() -> None:
    others = {"BOTDROME_SERVER": "http://arena", "BOTDROME_TOKEN": "x", "BOTDROMEDARY": "x"}
    assert load_settings({}, others) == Settings()


@pytest.mark.parametrize("text", ["port = ", "port = 1\nport = 2", b"\xff"])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, text: str | bytes) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadSetting, match=r"bad\.toml: "):
        load_settings({}, {}, file)


@pytest.mark.parametrize(
    "text", ["[duel]\ncolour = 1", "[nosuch]\nport = 1", "[host]\nport = 1", "colour = 1"]
)
def test_a_file_with_an_unknown_setting_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadSetting, match="there is no setting"):
        load_settings({}, {}, written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="No such file"):
        load_settings({}, {}, tmp_path / "missing.toml")


def test_every_setting_says_what_it_means() -> None:
    settings = list(all_settings(protocol_sections()))
    assert all(one.meaning for one in settings)
    assert len({one.name for one in settings}) == len(settings), (
        "no two settings have the same flag"
    )


def test_old_names_work_with_a_warning_that_names_the_new_one(tmp_path: Path) -> None:
    notes: list[str] = []
    file = written(tmp_path, 'duel_port = 1\nhouse = true\n[[boats]]\ntitle = "One"\n')
    settings = load_settings({"xbs_port": 2}, {"BOTDROME_LOGIN_LIMIT": "3"}, file, notes.append)
    assert settings == load_settings(
        {
            "duel.port": 1,
            "house.fill": True,
            "boats.rooms": [{"title": "One"}],
            "boats.port": 2,
            "limits.login": 3,
        }
    )
    last = "the old name stops working in the next version"
    assert notes == [
        f"botdrome.toml: duel_port is now the key port in the section [duel]; {last}",
        f"the setting house is now called house.fill; {last}",
        f"the setting boats is now called boats.rooms; {last}",
        f"the variable BOTDROME_LOGIN_LIMIT is now called BOTDROME_LIMITS_LOGIN; {last}",
        f"the setting xbs_port is now called boats.port; {last}",
    ]


def test_a_new_name_overrides_an_old_one() -> None:
    environment = {"BOTDROME_LIMITS_LOGIN": "2", "BOTDROME_LOGIN_LIMIT": "1"}
    assert load_settings({}, environment).limits == LimitsSection(login=2.0)


def test_every_old_name_leads_to_a_setting() -> None:
    paths = {one.path for one in all_settings(protocol_sections())}
    assert set(RENAMED.values()) <= paths


def test_new_names_give_no_warning(tmp_path: Path) -> None:
    notes: list[str] = []
    load_settings(
        {"duel_port": 1},
        {"BOTDROME_CUBE_LIMIT": "3"},
        written(tmp_path, "[boats]\nport = 1\n"),
        notes.append,
    )
    assert not notes


def test_the_store_is_a_file_of_the_user_by_default() -> None:
    assert Settings().store_url.startswith("sqlite:///")
    assert Settings().store_url.endswith("botdrome.db")
    assert (
        Settings(db="postgresql://ada:secret@host/db").store_shown == "postgresql://ada:...@host/db"
    )

"""Read the settings from flags, the environment and a TOML file.

A setting has a path, `duel.port`. In a file it is the key `port` of the section `[duel]`, as a flag
`--duel-port`, and in the environment `BOTDROME_DUEL_PORT`. The general settings (`host`, `port`,
...) belong to no section.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from botdrome.server.settings import BadSetting, ProtocolSection, Section, Settings

PREFIX = "BOTDROME_"
PORT = "PORT"
"""The variable from which Battlebot, and many hosting services, take the port; BOTDROME_PORT goes
before it.
"""
OTHER_COMMANDS = {"BOTDROME_SERVER", "BOTDROME_TOKEN"}
"""Variables that other commands read."""
RENAMED = {
    "public_url": "network.public_url", "origins": "network.origins",
    "trusted_proxies": "network.trusted_proxies", "connections": "limits.connections",
    "connections_per_address": "limits.connections_per_address", "login_limit": "limits.login",
    "waiting_limit": "limits.waiting", "unwritten_limit": "limits.unwritten",
    "longest_message": "message.longest", "house": "house.fill", "start_delay": "match.start_delay",
    "flight_bytes": "match.flight_bytes", "allow_bots": "calls.allow",
    "call_loopback": "calls.loopback", "bot_ports": "calls.ports", "bots_ca": "calls.ca",
    "socketio_ping_interval": "cube.ping_interval", "socketio_ping_timeout": "cube.ping_timeout",
    "socketio_longest": "cube.longest_message", "xbs_port": "boats.port", "boats": "boats.rooms",
    "host_token": "boats.host_token",
}  # fmt: skip
"""Former names of settings, with their paths. They still work in this version, with a warning."""
LAST = "the old name stops working in the next version"
JSON_VALUES = {"boats.rooms"}
"""Settings whose value in the environment or in a flag is JSON."""

Note = Callable[[str], object]
ProtocolSections = Mapping[str, type[ProtocolSection]]


class Setting(NamedTuple):
    section: str
    """Empty for the general settings."""
    key: str
    default: Any
    meaning: str

    @property
    def path(self) -> str:
        return f"{self.section}.{self.key}" if self.section else self.key

    @property
    def name(self) -> str:
        """As part of the names of its flag and its variable."""
        return self.path.replace(".", "_")


def sections_of(protocols: ProtocolSections) -> dict[str, type[Section]]:
    """Return every section by its name: first the general settings, then those of the server, then
    those of the protocols.
    """
    return (
        {"": Settings} | {key: type(section) for key, section in _core().items()} | dict(protocols)
    )


def all_settings(protocols: ProtocolSections) -> Iterator[Setting]:
    for name, section in sections_of(protocols).items():
        for one in _fields(section):
            if isinstance(one.type, msgspec.inspect.Metadata):  # all but sections
                schema = one.type.extra_json_schema or {}
                yield Setting(name, one.name, one.default, str(schema["description"]))


@cache
def _fields(section: type[Section]) -> tuple[msgspec.inspect.Field, ...]:
    info = msgspec.inspect.type_info(section)
    assert isinstance(info, msgspec.inspect.StructType)
    return info.fields


def read_settings(
    protocols: ProtocolSections,
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Path | None,
    note: Note,
) -> Settings:
    """Merge the sources: flags (None: not given) override the environment, and that overrides the
    file.

    Flags are keyed by path or by name. `note` is called for each old name. BadSetting names the
    setting that is wrong.
    """
    paths = {one.name: one.path for one in all_settings(protocols)}
    values = _from_file(file, paths, note) if file else {}
    values |= _from_environment(environment, paths, note)
    values |= {_path(key, paths, note): value for key, value in flags.items() if value is not None}
    tree: dict[str, dict[str, Any]] = {}
    sections = sections_of(protocols)
    for path, value in values.items():
        section, _, key = path.rpartition(".")
        tree.setdefault(section, {})[key] = _checked(sections[section], path, key, value)
    ours = {
        type_: msgspec.convert(tree.pop(name), type_, strict=False)
        for name, type_ in protocols.items()
        if name in tree
    }
    settings = msgspec.convert(tree.pop("", {}) | tree, Settings, strict=False)
    return msgspec.structs.replace(settings, protocols=ours)


def _core() -> dict[str, Section]:
    usual = Settings()
    found = {key: getattr(usual, key) for key in Settings.__struct_fields__}
    return {key: section for key, section in found.items() if isinstance(section, Section)}


def _path(word: str, paths: Mapping[str, str], note: Note) -> str:
    """Return the path of a setting that is given by its path, its name or an old name."""
    if word in paths.values():
        return word
    if word in paths:
        return paths[word]
    if RENAMED.get(word) in paths.values():
        note(f"the setting {word} is now called {RENAMED[word]}; {LAST}")
        return RENAMED[word]
    raise BadSetting(f"there is no setting {word!r}")


def _from_file(file: Path, paths: Mapping[str, str], note: Note) -> dict[str, Any]:
    try:
        found = tomllib.loads(file.read_text())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file}: {error}") from None
    values: dict[str, Any] = {}
    for key, value in found.items():
        if isinstance(value, dict):
            values |= {_in_section(f"{key}.{inner}", paths): one for inner, one in value.items()}
            continue
        path = _path(key, paths, note)
        if path != key and key not in RENAMED:
            section, _, inner = path.partition(".")
            note(f"{file.name}: {key} is now the key {inner} in the section [{section}]; {LAST}")
        values[path] = value
    return values


def _in_section(path: str, paths: Mapping[str, str]) -> str:
    if path not in paths.values():
        raise BadSetting(f"there is no setting {path!r}")
    return path


def _from_environment(
    environment: Mapping[str, str], paths: Mapping[str, str], note: Note
) -> dict[str, str]:
    old = {name: path for name, path in RENAMED.items() if path in paths.values()}
    names = {PREFIX + name.upper(): name for name in (*old, *paths)}
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in names.keys() | OTHER_COMMANDS:
            raise BadSetting(f"there is no setting for the variable {variable}")
    given: dict[str, str] = {}
    for variable, name in names.items():
        if variable in environment:
            path = paths.get(name) or old[name]
            if name not in paths:
                note(
                    f"the variable {variable} is now called "
                    f"{PREFIX}{path.replace('.', '_').upper()}; {LAST}"
                )
            given[path] = environment[variable]
    if environment.get(PORT):  # empty counts as absent, as on the original
        given.setdefault("port", environment[PORT])
    return given


def _checked(section: type[Section], path: str, key: str, value: Any) -> Any:
    """Return the value, parsed from JSON if it is JSON.

    Raise BadSetting if the section refuses it.
    """
    if path in JSON_VALUES and isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError as error:
            raise BadSetting(f"{path}: {error}") from None
    try:
        msgspec.convert({key: value}, section, strict=False)
    except msgspec.ValidationError as error:
        raise BadSetting(
            f"{path}: {str(error).partition(' - at ')[0].lower()}, not {value!r}"
        ) from None
    return value

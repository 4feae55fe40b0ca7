"""Settings: everything that can be set, in one typed place; from flags, the environment and a TOML file, in this order."""

import re
import tomllib
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from platformdirs import user_data_path

from botdrome.server.boats.plan import RoomPlan

PREFIX = "BOTDROME_"
PORT = "PORT"
"""The variable from which Battlebot, and many hosting services, take the port; BOTDROME_PORT goes before it."""
OF_OTHERS = {"BOTDROME_SERVER", "BOTDROME_TOKEN"}
"""Variables that are for other commands than the server's."""


class BadSetting(Exception):
    """A setting that is not there or has a value that it cannot have; the words name the key."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    host: Annotated[str, Meta(description="the address to listen on; 127.0.0.1: also [::1]; empty: all addresses")] = "127.0.0.1"
    port: Annotated[int, Meta(description="HTTP and WebSocket; 0: any free one; also read from PORT", ge=0, le=65535)] = 3000
    db: Annotated[str, Meta(description="sqlite:///FILE or postgresql://...; empty: a file in the user's data folder")] = ""
    house: Annotated[bool, Meta(description="house bots play those who find no opponent")] = False
    house_wait: Annotated[float, Meta(description="seconds before the house steps in", ge=0)] = 1.0
    duel_port: Annotated[int, Meta(description="duel arena's TCP protocol; 0: off, -1: any free port", ge=-1, le=65535)] = 5232
    duel_window: Annotated[
        float, Meta(description="seconds in which duel players gather before they are paired; 0: at once", ge=0)
    ] = 0.0
    xbs_port: Annotated[int, Meta(description="Xterm Boat Sinker's lines; 0: off, -1: any free port", ge=-1, le=65535)] = 7948
    boats: Annotated[
        tuple[RoomPlan, ...], Meta(description="the rooms for boat games, a `[[boats]]` table each; empty: one, for two players")
    ] = ()
    boats_dir: Annotated[str, Meta(description="a folder for ini files with the statistics of boat games; empty: none")] = ""
    host_token: Annotated[str, Meta(description="what `botdrome host` shows to be let in; empty: it is not let in")] = ""
    operator_token: Annotated[str, Meta(description="the operator's token; empty: one is made and shown at the first start")] = ""
    cube_port: Annotated[
        int, Meta(description="Battlecube's socket.io alone, 9999 in the original; 0: off, -1: any free one", ge=-1, le=65535)
    ] = 0
    bomber_port: Annotated[
        int,
        Meta(description="the Bomberman API alone, at the original's port; 0: off, -1: any free port", ge=-1, le=65535),
    ] = 9800
    bomber_rooms: Annotated[str, Meta(description="the rooms of the Bomberman API: NAME:KEY=VALUE,KEY=VALUE and so on")] = (
        "default"
    )
    bomber_wait: Annotated[float, Meta(description="seconds that a request may wait for the next Bomberman state", gt=0)] = 25.0
    bomber_waits: Annotated[int, Meta(description="requests from one address that may wait so at a time", ge=1)] = 1000
    tls_cert: Annotated[str, Meta(description="a certificate file (PEM); with it and tls_key, TLS is on")] = ""
    tls_key: Annotated[str, Meta(description="the key file of the certificate (PEM); neither goes without the other")] = ""
    public_url: Annotated[
        str,
        Meta(description="the URLs by whose names clients reach this server, separated by commas; empty: no name but its own"),
    ] = ""
    origins: Annotated[
        str, Meta(description="origins (https://pages.example.org) whose pages may use this server, separated by commas")
    ] = ""
    login_limit: Annotated[float, Meta(description="seconds for the first message", gt=0)] = 10.0
    waiting_limit: Annotated[
        float,
        Meta(
            description="seconds to wait for an opponent (bots with the feature `notices`) or to join (boats); 0: for ever", ge=0
        ),
    ] = 300.0
    start_delay: Annotated[float, Meta(description="seconds between matching and the first message of a match", ge=0)] = 0.1
    contest_games: Annotated[int, Meta(description="games each way for every pair in a contest", ge=1)] = 5
    contest_wait: Annotated[
        float, Meta(description="seconds before a bot with the feature `notices` is told that its contest is complete", ge=0)
    ] = 5.0
    unwritten_limit: Annotated[
        int, Meta(description="results that may wait for a store that is down, before no new match begins", ge=1)
    ] = 500
    drain: Annotated[float, Meta(description="seconds that running matches get when the server stops", ge=0)] = 30.0
    registration_rate: Annotated[
        float, Meta(description="bots that may be registered a second from one address, in the long run", gt=0)
    ] = 10.0
    registration_burst: Annotated[int, Meta(description="bots that may be registered at once from one address", ge=1)] = 1000
    http_rate: Annotated[
        float,
        Meta(description="requests by HTTP a second from one address, but for players', in the long run; 0: any", ge=0),
    ] = 200.0
    http_burst: Annotated[int, Meta(description="such requests at once", ge=1)] = 2000
    http_rate_loopback: Annotated[bool, Meta(description="the server's own machine is held to http_rate as well")] = False
    workers: Annotated[int, Meta(description="processes for heavy work; 0: one for each core, but 2 to 4", ge=0, le=64)] = 0
    longest_message: Annotated[int, Meta(description="bytes of one message from a bot", ge=256)] = 65536
    message_rate: Annotated[float, Meta(description="messages a second from one connection, in the long run", gt=0)] = 200.0
    message_burst: Annotated[int, Meta(description="messages at once from one connection", ge=1)] = 400
    socketio_ping_interval: Annotated[float, Meta(description="seconds between two heartbeats of socket.io", ge=0.05)] = 25.0
    socketio_ping_timeout: Annotated[float, Meta(description="seconds that a heartbeat of socket.io may be late", ge=0.05)] = 60.0
    socketio_longest: Annotated[int, Meta(description="bytes of one message, or of one POST, over socket.io", ge=256)] = 100_000
    connections: Annotated[int, Meta(description="connections in all", ge=1)] = 50000
    connections_per_address: Annotated[int, Meta(description="connections from one address", ge=1)] = 20000
    trusted_proxies: Annotated[
        str, Meta(description="networks of proxies that may say where a client is, by PROXY v2 or X-Forwarded-For, by commas")
    ] = ""
    allow_bots: Annotated[
        str, Meta(description="networks (10.1.0.0/16) and hosts that the server may call beside loopback, separated by commas")
    ] = ""
    call_loopback: Annotated[
        bool | None,
        Meta(description="bots on the server's own machine may be called; null: while the server listens on loopback alone"),
    ] = None
    bot_ports: Annotated[str, Meta(description="ports on which bots may be called")] = "80,443,1024-65535"
    bots_ca: Annotated[str, Meta(description="a file of certificates to trust beside the system's when bots are called")] = ""
    calls_per_host: Annotated[int, Meta(description="calls to one address at the same time; others wait", ge=1)] = 1000
    calls_per_port: Annotated[int, Meta(description="calls to one port of an address at the same time; others wait", ge=1)] = 200
    cube_limit: Annotated[float, Meta(description="seconds that a Battlecube bot has for a whole answer", ge=0.001)] = 5.0
    cube_games: Annotated[int, Meta(description="Battlecube games that one organiser may have, or watch, at once", ge=1)] = 100
    cube_keep: Annotated[float, Meta(description="seconds that a Battlecube game goes on when its organiser has left", ge=0)] = (
        300.0
    )
    cube_pause_limit: Annotated[
        float, Meta(description="seconds that a Battlecube game may be paused before it is resumed", gt=0)
    ] = 3600.0
    flight_bytes: Annotated[int, Meta(description="bytes of the flight record of a seat", ge=1024)] = 65536
    log_format: Annotated[str, Meta(description="text or json", pattern="^(text|json)$")] = "text"
    log_level: Annotated[str, Meta(description="debug, info, warning or error", pattern="^(debug|info|warning|error)$")] = "info"

    @property
    def store_shown(self) -> str:
        """Where things are stored, without a password."""
        return re.sub(r"//([^:@/]*):[^@/]*@", r"//\1:...@", self.store_url)

    @property
    def store_url(self) -> str:
        return self.db or f"sqlite:///{user_data_path('botdrome') / 'botdrome.db'}"

    @property
    def listens_on_loopback(self) -> bool:
        """Whether nobody outside this machine can connect."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def calls_loopback(self) -> bool:
        return self.listens_on_loopback if self.call_loopback is None else self.call_loopback


KEYS = Settings.__struct_fields__


def load_settings(flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None) -> Settings:
    """Flags (None: not given) go before the environment, the environment before the file. BadSetting names the key."""
    values = _from_file(file) if file else {}
    values |= _from_environment(environment)
    values |= {key: value for key, value in flags.items() if value is not None}
    if isinstance(values.get("boats"), str):
        values["boats"] = _from_json("boats", values["boats"])
    for key, value in values.items():
        _check(key, value)
    return msgspec.convert(values, Settings, strict=False)


def _from_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file}: {error}") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    names = {PREFIX + key.upper(): key for key in KEYS}
    for name in environment:
        if name.startswith(PREFIX) and name not in names.keys() | OF_OTHERS:
            raise BadSetting(f"there is no setting for the variable {name}")
    given = {key: environment[name] for name, key in names.items() if name in environment}
    if environment.get(PORT):  # empty counts as absent, as on the original
        given.setdefault("port", environment[PORT])
    return given


def _from_json(key: str, text: str) -> Any:
    """What only a file can say plainly, from the environment or a flag."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise BadSetting(f"{key}: {error}") from None


def _check(key: str, value: Any) -> None:
    if key not in KEYS:
        raise BadSetting(f"there is no setting {key!r}")
    try:
        msgspec.convert({key: value}, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise BadSetting(f"{key}: {str(error).partition(' - at ')[0].lower()}, not {value!r}") from None


def described() -> list[tuple[str, Any, str]]:
    """Every setting: its key, default and meaning."""
    info = msgspec.inspect.type_info(Settings)
    assert isinstance(info, msgspec.inspect.StructType)
    return [(field.name, field.default, _meaning(field.type)) for field in info.fields]


def _meaning(kind: Any) -> str:
    return str(kind.extra_json_schema["description"])

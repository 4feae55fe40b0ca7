"""The settings of the server, one section per concern.

Each protocol declares a section of its own in its folder.
"""

import ast
import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import NODEFAULT, Meta, Struct, field
from msgspec.structs import fields
from platformdirs import user_data_path

LARGEST_UPLOAD = 8 << 20
"""Bytes that no setting exceeds."""


class BadSetting(Exception):
    """A setting that does not exist or has a bad value. The text names the setting."""


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A group of settings.

    The docstring of a subclass is its heading in `--help` and in the docs. A string after each
    setting says what it means.
    """


AnyPort = Annotated[int, Meta(ge=-1, le=65535)]
Positive = Annotated[int, Meta(ge=1)]
PositiveFloat = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
UpToAnHour = Annotated[float, Meta(ge=0, le=3600)]


class ProtocolSection(Section, frozen=True, kw_only=True):
    """The settings of one protocol."""

    port: AnyPort = 0
    """the port; 0: off, -1: any free port"""


AnySection = TypeVar("AnySection", bound=ProtocolSection)


class NetworkSection(Section, frozen=True):
    """Names and proxies"""

    public_url: str = ""
    """URLs by which clients reach this server, separated by commas; empty: only its own names"""
    origins: str = ""
    """origins (https://pages.example.org) whose pages may use this server, separated by commas"""
    trusted_proxies: str = ""
    """networks of proxies that may name a client's address (PROXY v2, X-Forwarded-For),
    separated by commas
    """


class TlsSection(Section, frozen=True):
    """TLS on the HTTP port"""

    cert: str = ""
    """a certificate file (PEM); together with `key` it turns TLS on"""
    key: str = ""
    """the key file of the certificate (PEM)"""


class LimitsSection(Section, frozen=True):
    """Timeouts and capacity"""

    connections: Positive = 50000
    """connections in total"""
    connections_per_address: Positive = 20000
    """connections from one address"""
    login: PositiveFloat = 10.0
    """seconds for the first message of a connection"""
    waiting: NotNegative = 300.0
    """seconds to wait for an opponent (bots with the feature `notices`) or to join (boats); 0:
    forever
    """
    unwritten: Positive = 500
    """results that may wait for a store that is down before no new match begins"""


class MessageSection(Section, frozen=True):
    """Messages of one connection"""

    rate: PositiveFloat = 200.0
    """messages per second in the long run"""
    burst: Positive = 400
    """messages at once"""
    longest: Annotated[int, Meta(ge=256)] = 65536
    """bytes of one message"""


class HttpSection(Section, frozen=True):
    """HTTP requests from one address, except those of players"""

    rate: NotNegative = 200.0
    """requests per second in the long run; 0: no limit"""
    burst: Positive = 2000
    """requests at once"""
    rate_loopback: bool = False
    """limit requests from the server's own machine, too"""


class RegistrationSection(Section, frozen=True):
    """Registrations of bots from one address"""

    rate: PositiveFloat = 10.0
    """registrations per second in the long run"""
    burst: Positive = 1000
    """registrations at once"""


class ClassSection(Section, frozen=True):
    """Classes"""

    hours: Annotated[float, Meta(gt=0, le=8784)] = 24.0
    """hours until a join code expires, unless its class says otherwise"""
    participants: Annotated[int, Meta(ge=1, le=5000)] = 500
    """participants of one class"""


class HouseSection(Section, frozen=True):
    """House bots"""

    fill: bool = False
    """house bots of middle strength play against bots that find no opponent"""
    wait: NotNegative = 1.0
    """seconds before a house bot steps in"""


class ContestSection(Section, frozen=True):
    """Contests"""

    games: Positive = 5
    """games per seating of each pair in a contest"""
    wait: NotNegative = 5.0
    """seconds before a bot with the feature `notices` is told that its contest is complete"""


class MatchmakingSection(Section, frozen=True):
    """Matchmaking"""

    wait: UpToAnHour = 0.0
    """seconds to gather bots for open play before they are paired; 0: pair at once"""


class MatchSection(Section, frozen=True):
    """Matches"""

    start_delay: NotNegative = 0.1
    """seconds between pairing and the first message of a match"""
    network_credit: Annotated[float, Meta(ge=0, le=10)] = 0.3
    """seconds of network time per move that no bot is charged for, at most"""
    flight_bytes: Annotated[int, Meta(ge=1024)] = 65536
    """bytes of the flight record of a seat"""


class CallsSection(Section, frozen=True):
    """Calls to bots that have a URL"""

    allow: str = ""
    """networks (10.1.0.0/16) and hosts that the server may call beside loopback, separated by
    commas
    """
    loopback: bool | None = None
    """call bots on the server's own machine; null: only while the server listens on loopback
    alone
    """
    ports: str = "80,443,1024-65535"
    """ports on which bots may be called"""
    ca: str = ""
    """a file of certificates to trust beside the system's"""
    per_host: Positive = 1000
    """calls to one address at the same time; others wait"""
    per_port: Positive = 200
    """calls to one port of an address at the same time; others wait"""


class HostingSection(Section, frozen=True):
    """Uploaded bots that runners play"""

    uploads: Annotated[str, Meta(pattern="^(off|invited|everybody)$")] = "off"
    """bots that may be uploaded: off, invited (those of classes and those that the operator
    invited) or everybody
    """
    packed: Annotated[int, Meta(ge=1024, le=LARGEST_UPLOAD)] = 4 << 20
    """bytes of an uploaded archive"""
    unpacked: Annotated[int, Meta(ge=1024, le=256 << 20)] = 16 << 20
    """bytes of its files together"""
    files: Annotated[int, Meta(ge=1, le=10_000)] = 500
    """files of an upload"""
    per_day: Positive = 20
    """uploads of a participant, or of another bot, within 24 hours"""


class LadderSection(Section, frozen=True):
    """Ladders"""

    per_hour: Annotated[int, Meta(ge=1, le=3600)] = 60
    """matches of a bot in an hour"""
    wait: UpToAnHour = 5.0
    """seconds to gather bots before one of them gets the best opponent that is there, or a
    house bot
    """


class OperatorSection(Section, frozen=True):
    """The operator"""

    token: str = ""
    """the operator's token; empty: one is made and shown at the first start"""


class ClusterSection(Section, frozen=True):
    """Several servers as one arena"""

    name: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]*$")] = ""
    """the name of this node; empty: the host's name with a random suffix"""
    port: AnyPort = 0
    """with workers: the first node's own HTTP port, the next one has the next; -1: any, 0: none"""
    pipes: AnyPort = 0
    """the port on which this node takes connections from other machines; with workers, the
    next one has the next; 0 or -1: any free port
    """
    beat: Annotated[float, Meta(gt=0, le=10)] = 0.5
    """seconds between two signs of life of a node"""
    death: Annotated[float, Meta(gt=0, le=60)] = 2.0
    """seconds without a sign of life after which a node is dead"""
    wait: UpToAnHour = 30.0
    """seconds in which a node that starts waits for PostgreSQL and NATS"""
    pairing: Annotated[float, Meta(ge=0, le=60)] = 0.05
    """seconds after which a player that found no opponent on its node looks at others, at the
    least; up to 0.5 where many connect for each match
    """
    repeats: Positive = 20
    """matches of two players in a row after which their node looks for other opponents at
    other nodes
    """
    grace: UpToAnHour = 10.0
    """seconds in which players may return to a match whose node died"""
    open_nats: bool = False
    """use a NATS that takes clients without a login: anyone who reaches it can act as a node"""


class LogSection(Section, frozen=True):
    """Logs"""

    format: Annotated[str, Meta(pattern="^(text|json)$")] = "text"
    """text or json"""
    level: Annotated[str, Meta(pattern="^(debug|info|warning|error)$")] = "info"
    """debug, info, warning or error"""


class Settings(Section, frozen=True):
    """General"""

    host: str = "127.0.0.1"
    """the address to listen on; 127.0.0.1: also [::1]; empty: all addresses"""
    port: Annotated[int, Meta(ge=0, le=65535)] = 3000
    """HTTP and WebSocket; 0: any free port; also read from PORT"""
    db: str = ""
    """sqlite:///FILE or postgresql://...; empty: a file in the user's data folder"""
    nats: str = ""
    """nats://HOST:PORT: join all servers with this NATS and this PostgreSQL; empty: no cluster"""
    workers: Annotated[int, Meta(ge=1, le=64)] = 1
    """nodes on this machine that share its ports; several need PostgreSQL and NATS"""
    processes: Annotated[int, Meta(ge=0, le=64)] = 0
    """processes for heavy work; 0: one per core, but 2 to 4"""
    drain: NotNegative = 30.0
    """seconds that running matches get when the server stops or is drained"""
    network: NetworkSection = NetworkSection()
    tls: TlsSection = TlsSection()
    limits: LimitsSection = LimitsSection()
    message: MessageSection = MessageSection()
    http: HttpSection = HttpSection()
    registration: RegistrationSection = RegistrationSection()
    classes: ClassSection = ClassSection()
    house: HouseSection = HouseSection()
    contest: ContestSection = ContestSection()
    matchmaking: MatchmakingSection = MatchmakingSection()
    match: MatchSection = MatchSection()
    calls: CallsSection = CallsSection()
    hosting: HostingSection = HostingSection()
    ladder: LadderSection = LadderSection()
    operator: OperatorSection = OperatorSection()
    cluster: ClusterSection = ClusterSection()
    log: LogSection = LogSection()
    protocols: Mapping[type[Any], Any] = field(default_factory=dict)
    """The section of each protocol, by its class. `of` reads them."""

    def of(self, section: type[AnySection]) -> AnySection:
        """Return a protocol's section; its defaults if nothing is set."""
        found = self.protocols.get(section)
        return found if isinstance(found, section) else section()

    @property
    def store_shown(self) -> str:
        """The store's URL without its password."""
        return re.sub(r"//([^:@/]*):[^@/]*@", r"//\1:...@", self.store_url)

    @property
    def nats_shown(self) -> str:
        """The URLs of NATS without their logins."""
        return re.sub(r"//[^@/,]*@", "//...@", self.nats)

    @property
    def store_url(self) -> str:
        return self.db or f"sqlite:///{user_data_path('botdrome') / 'botdrome.db'}"

    @property
    def listens_on_loopback(self) -> bool:
        """Whether only this machine can connect."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def calls_loopback(self) -> bool:
        return self.listens_on_loopback if self.calls.loopback is None else self.calls.loopback


# Read the settings from flags, the environment and a TOML file.
#
# A setting has a path, `duel.port`. In a file it is the key `port` of the section `[duel]`, as a
# flag `--duel-port`, and in the environment `BOTDROME_DUEL_PORT`. The general settings (`host`,
# `port`, ...) belong to no section.

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
REMOVED = {
    "cluster.hold_news": "news of a move leaves at once, and inputs are stored every 10 ms",
}
"""Settings that are gone, with what happens now."""
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
    kind: type[Section]
    """The section's class."""

    @property
    def meaning(self) -> str:
        return next(
            notes[self.key]
            for kind in self.kind.__mro__
            if self.key in (notes := field_notes(kind.__module__)[kind.__name__])
        )

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
    found = {one.name: type(one.default) for one in fields(Settings)}
    core = {name: kind for name, kind in found.items() if issubclass(kind, Section)}
    return {"": Settings, **core, **protocols}


def all_settings(protocols: ProtocolSections) -> Iterator[Setting]:
    for name, section in sections_of(protocols).items():
        for one in fields(section):
            if one.default is not NODEFAULT and not isinstance(one.default, Section):
                yield Setting(name, one.name, one.default, section)


@cache
def field_notes(module: str) -> dict[str, dict[str, str]]:
    """Return the strings that follow fields of the classes of a module, by class and field."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        kind.name: {
            ast.unparse(field.target): " ".join(ast.literal_eval(note.value).split())
            for field, note in pairwise(kind.body)
            if isinstance(field, ast.AnnAssign) and isinstance(note, ast.Expr)
        }
        for kind in tree.body
        if isinstance(kind, ast.ClassDef)
    }


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


def _path(word: str, paths: Mapping[str, str], note: Note) -> str:
    """Return the path of a setting that is given by its path, its name or an old name."""
    if word in paths.values():
        return word
    if word in paths:
        return paths[word]
    if RENAMED.get(word) in paths.values():
        note(f"the setting {word} is now called {RENAMED[word]}; {LAST}")
        return RENAMED[word]
    raise _unknown(word)


def _unknown(word: str, variable: str = "") -> BadSetting:
    """`variable` is the one in the environment that sets it."""
    for path, now in REMOVED.items():
        if word in (path, path.replace(".", "_")):
            return BadSetting(f"the setting {variable or path} is gone: {now}; remove it")
    found = f"for the variable {variable}" if variable else f"{word!r}"
    return BadSetting(f"there is no setting {found}")


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
        raise _unknown(path)
    return path


def _from_environment(
    environment: Mapping[str, str], paths: Mapping[str, str], note: Note
) -> dict[str, str]:
    old = {name: path for name, path in RENAMED.items() if path in paths.values()}
    names = {PREFIX + name.upper(): name for name in (*old, *paths)}
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in names.keys() | OTHER_COMMANDS:
            raise _unknown(variable.removeprefix(PREFIX).lower(), variable)
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

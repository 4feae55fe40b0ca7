"""Answers: what REST says, as JSON. The OpenAPI document is made from these."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from botdrome.api.samples import Sample
from botdrome.match.terms import PaceName, Terms

Moment = Annotated[str, Meta(description="A moment in UTC, as in ISO 8601.", examples=["2026-11-15T02:27:15.123Z"])]
GameName = Annotated[str, Meta(description="A game.", examples=["noughts-and-crosses"])]
GameType = Annotated[str, Meta(description="The same game as the native protocol calls it.", examples=["NOUGHTS_AND_CROSSES"])]

Pace = Annotated[PaceName, Meta(description="usual, or for people slow or stepped: such a match is unrated.")]


class Error(Struct):
    error: str


class Bot(Struct):
    name: str
    game: GameName
    gameType: GameType  # noqa: N815
    owner: str
    registered: Moment
    called: Annotated[bool, Meta(description="Whether it has an address at which the server calls it.")] = False


class Bots(Struct):
    bots: list[Bot]
    total: int
    limit: int
    offset: int


class NewBot(Struct, forbid_unknown_fields=True):
    game: GameName
    name: str
    owner: str = ""
    url: Annotated[str | None, Meta(description="Where the server calls it; the bot must repeat a challenge there.")] = None


class Address(Struct, forbid_unknown_fields=True):
    url: Annotated[str | None, Meta(description="Where the server calls the bot; null: it connects by itself.")]


class Entrant(Struct, forbid_unknown_fields=True):
    bot: Annotated[str, Meta(description="The name of a bot that the server can call.")]


class Entry(Struct):
    contest: str
    bot: str
    entered: bool


class RegisteredBot(Struct):
    bot: Bot
    password: Annotated[str, Meta(description="The bot's token. It is shown this once.")]


class Seat(Struct):
    seat: Annotated[int, Meta(description="From 0, in the order of the players.")]
    bot: str
    place: Annotated[int | None, Meta(description="1 for the winner; those that tie share a place.")] = None
    score: float | None = None
    cause: Annotated[str | None, Meta(description="Why it ended for this bot.")] = None


class Outcome(Struct):
    victor: Annotated[str | None, Meta(description="null: a draw.")]
    reason: str


class Match(Struct):
    id: str
    game: GameName
    gameType: GameType  # noqa: N815
    players: list[str]
    contest: str | None
    pace: Pace
    status: Annotated[str, Meta(description="running, ended or aborted.")]
    started: Moment
    ended: Moment | None
    result: Outcome | None
    seats: list[Seat]


class MatchInFull(Match):
    options: dict[str, Any]
    reason: Annotated[str | None, Meta(description="Why it was aborted.")]
    view: Annotated[dict[str, Any] | None, Meta(description="The public view of the present or last position.")]


class Matches(Struct):
    matches: list[Match]
    total: int
    limit: int
    offset: int


class Contests(Struct):
    contests: list[str]
    total: int
    limit: int
    offset: int


class Table(Struct):
    id: str
    game: GameName
    gameType: GameType  # noqa: N815
    players: list[str]
    contest: str | None
    started: Moment
    steps: int
    spectators: int
    pace: Pace


class Live(Struct):
    tables: list[Table]
    total: int


class GameOption(Struct):
    name: str
    description: str
    default: Any


class Game(Struct):
    name: GameName
    gameType: GameType  # noqa: N815
    players: Annotated[list[int], Meta(description="How many may play: the least and the most.")]
    options: list[GameOption]
    terms: Terms
    house: Annotated[list[str], Meta(description="Bots of the house that play it.")]


class GameInFull(Game):
    sample: Annotated[Sample, Meta(description="A position from a match between house bots.")]


class Games(Struct):
    games: list[Game]

"""Answers about bots, contests and the server, for pages and tools; the OpenAPI document is made from these too."""

from typing import Annotated

from msgspec import Meta, Struct

from botdrome.api.rankings import Rank
from botdrome.api.rest.answers import Bot, GameName, GameType, Moment

Rating = Annotated[float, Meta(description="In Elo points; 1500 is the mean of all who have met, directly or through others.")]
Low = Annotated[float | None, Meta(description="The lower end of the 95 % interval; null: there is none.")]
High = Annotated[float | None, Meta(description="The upper end of the 95 % interval; null: there is none.")]


class LeaderboardLine(Struct):
    place: Annotated[int | None, Meta(description="null: it has played no rated match.")]
    name: str
    owner: str
    house: Annotated[bool, Meta(description="A bot of the house.")]
    rating: Rating | None
    low: Low
    high: High
    group: Annotated[int | None, Meta(description="Ratings of different groups cannot be compared: they have never met.")]
    games: int
    wins: int
    draws: int
    losses: int


class Leaderboard(Struct):
    game: GameName
    gameType: GameType  # noqa: N815
    bots: list[LeaderboardLine]
    matches: Annotated[int, Meta(description="Rated matches: those between registered bots or bots of the house.")]
    rated: Annotated[Moment | None, Meta(description="When the ratings were computed.")]
    total: int
    limit: int
    offset: int


class RatingPoint(Struct):
    at: Moment
    games: Annotated[int, Meta(description="Rated matches until then.")]
    rating: Rating
    low: Low
    high: High


class Profile(Struct):
    name: str
    bot: Annotated[Bot | None, Meta(description="null: the name is not registered.")]
    rating: LeaderboardLine | None
    history: Annotated[
        list[RatingPoint], Meta(description="Its results up to then against the present ratings of its opponents; 100 at most.")
    ]
    matches: Annotated[int, Meta(description="All of its matches.")]
    causes: Annotated[dict[str, int], Meta(description="Why its matches ended for it; all but `complete` are faults.")]


class OpponentLine(Struct):
    name: str
    games: int
    wins: int
    draws: int
    losses: int
    last: Moment


class Opponents(Struct):
    opponents: list[OpponentLine]
    total: int
    limit: int
    offset: int


class ContestLine(Struct):
    game: GameName
    gameType: GameType  # noqa: N815
    name: str
    matches: int
    first: Moment
    last: Moment


class AllContests(Struct):
    contests: list[ContestLine]
    total: int
    limit: int
    offset: int


class Contest(Struct):
    name: str
    game: GameName
    gameType: GameType  # noqa: N815
    matches: Annotated[int, Meta(description="How many have ended.")]
    running: int
    planned: Annotated[int, Meta(description="How many there will be, if nobody else comes.")]
    rankings: list[Rank]


class Standing(Struct):
    place: int
    bot: str
    wins: int
    draws: int
    losses: int
    played: int
    score: int


class Standings(Struct):
    bots: list[Standing]
    total: int
    limit: int
    offset: int


class Crosstable(Struct):
    bots: Annotated[list[str], Meta(description="The best first; 100 at most.")]
    total: Annotated[int, Meta(description="How many bots there are.")]
    rows: Annotated[
        list[list[list[int] | None]], Meta(description="Wins, draws and losses of each against each; null: they have not met.")
    ]


class FoundContest(Struct):
    game: GameName
    name: str


class SearchResult(Struct):
    bots: list[str]
    players: Annotated[list[str], Meta(description="Names in matches that are not registered, such as guests'.")]
    contests: list[FoundContest]
    matches: Annotated[list[str], Meta(description="Ids.")]


class Waiting(Struct):
    name: str
    game: GameName
    contest: str | None
    players: Annotated[int, Meta(description="At its table, itself among them.")]
    opponent: Annotated[str | None, Meta(description="The only one that it wants to meet; null: any.")]


class Unplayed(Struct):
    game: GameName
    contest: str
    players: list[str]
    left: Annotated[int, Meta(description="Matches that these have still to play.")]


class NextMatches(Struct):
    waiting: Annotated[list[Waiting], Meta(description="Players without an opponent, the longest wait first; 100 at most.")]
    unplayed: Annotated[
        list[Unplayed], Meta(description="What contests in which somebody waits or plays still have to see; 100 at most.")
    ]


class ServerAddress(Struct):
    version: str
    url: Annotated[str | None, Meta(description="Where people and bots reach the server; null: where you did.")]
    tls: Annotated[bool, Meta(description="HTTP and WebSockets are encrypted; the ports of the other protocols never are.")]
    ports: Annotated[
        dict[str, int],
        Meta(description="By protocol: http (also WebSockets and socket.io), duel, xbs, bomber, cube; others: rooms for boats."),
    ]
    house: Annotated[bool, Meta(description="House bots play those who find no opponent.")]

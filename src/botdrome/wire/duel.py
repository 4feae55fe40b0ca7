"""Duel arena's conversation: login, then any number of matches, each after the client asks for an
opponent.
"""

import json
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec import Struct

from botdrome.games.game import Raw
from botdrome.games.gomoku import KNOWN_STONES, MARKS, Point
from botdrome.games.reading import UNREADABLE, TooManyValues, bounded, shown
from botdrome.match.events import (
    Began,
    BoardEnded,
    BoardResult,
    Ended,
    Out,
    Played,
    Player,
    Refused,
)
from botdrome.match.match import News
from botdrome.match.terms import Milliseconds
from botdrome.wire.conversation import (
    DRAW,
    Admit,
    Admitted,
    BadLogin,
    CannotPlay,
    Close,
    Command,
    Conversation,
    Dismissed,
    EndOfInput,
    LoginRefused,
    Outs,
    RecordMessage,
    Removed,
    Reply,
    Seated,
    Seconds,
    Submit,
    TokenBucket,
    TokenChanged,
    Unreadable,
    can_be_shown,
    read_features,
    read_version,
)
from botdrome.wire.framing.streams import BadFrame
from botdrome.wire.writers import MakeWriter, MatchStatus, PlayerMessages

# Messages of duel arena players: frames, and the moves in them.

GREATEST = 2**53
"""Larger coordinates are played as this one: both are far beyond any board."""


class PlainAnswer(Struct, forbid_unknown_fields=True):
    """A `make_move` as nearly every bot writes it: integers, and no other keys."""

    event: Literal["make_move"]
    id: str
    x: int
    y: int


DECODER = msgspec.json.Decoder()
PLAIN_ANSWERS = msgspec.json.Decoder(PlainAnswer)
LONGEST_PLAIN, MOST_PLAIN = 128, 4096
"""The bytes of a plain answer without its id, and the answers that are kept."""
SOME_IDS = "1.5-7", "2.5-8"


class Unusual(Exception):
    """An answer that is not plain, or not on any board."""


@lru_cache(MOST_PLAIN)
def _plain_move(before: bytes, after: bytes) -> Raw:
    """Return the move of a plain answer, of which this is the text before and after the id.

    Bots write the same answers again and again. Raise Unusual for others, which are not kept.
    """
    if len(before) + len(after) > LONGEST_PLAIN:
        raise Unusual
    try:
        answers = [PLAIN_ANSWERS.decode(before + some.encode() + after) for some in SOME_IDS]
    except UNREADABLE:
        raise Unusual from None
    move = KNOWN_STONES.get((answers[0].x, answers[0].y))
    if move is None or tuple([answer.id for answer in answers]) != SOME_IDS:
        raise Unusual  # of two ids in a text, the other one may be the last
    return move


class Ignored(Exception):
    """A message that is ignored without an answer, with words for the bot's author."""


def read_frame(frame: bytes) -> Any:
    """Return the JSON in a frame. Raise BadFrame if there is none, or if it is `null`."""
    try:
        value = DECODER.decode(bounded(frame))
    except TooManyValues as error:
        raise BadFrame(f"the frame cannot be read: {error}") from None
    except UNREADABLE as error:
        value = _as_python_reads_it(frame, str(error))
    if value is None:
        raise BadFrame("the frame says null")
    return value


def _as_python_reads_it(frame: bytes, why_not: str) -> Any:
    """Accept `NaN`, `Infinity` and lone surrogates like Python, in which the original and many bots
    are written.
    """
    try:
        return json.loads(frame.decode())
    except (ValueError, RecursionError):
        raise BadFrame(f"the frame is no JSON in UTF-8: {why_not}") from None


def number_in(message: dict[str, Any], key: str) -> int:
    """Return what Python's `int` makes of the value, also of `" 5 "`, 5.9 and true."""
    try:
        return int(message[key])
    except KeyError:
        raise Ignored(f'the key "{key}" is missing') from None
    except (TypeError, ValueError, OverflowError):
        raise Ignored(f"{key} is a whole number, not {shown(message[key])}") from None


# Commands and replies of duel arena alone.


class Enter(Struct, Command, frozen=True):
    """Enter the hall under the name that the client gave, in place of an earlier client of that
    name.

    `secret` is the password that it gave: it shows that an earlier client of that name was the
    same.
    """

    called: str
    secret: str = ""


class FindOpponent(Struct, Command, frozen=True):
    """Find an opponent, now or when one comes."""


class Entered(Struct, Reply, frozen=True):
    """The client is in the hall. `status`: it has taken over a seat in a match that runs."""

    status: MatchStatus | None = None


class Superseded(Struct, Reply, frozen=True):
    """A registered bot has come under this guest's name: the guest leaves after its match."""


# Duel arena's login: a name and, beyond the original, a token for registered names.

LONGEST_NAME = 64
OK = b'{"status": "ok"}'


class DuelLogin(Struct, frozen=True):
    name: str
    token: Any
    """The token as it was sent; None: none was sent."""
    draws: bool
    """Whether the client wants to be told of draws."""
    version: str = ""


def error(words: str) -> bytes:
    return json.dumps({"status": "error", "message": words}).encode()


def read_duel_login(message: Any) -> DuelLogin:
    """Return the login in a message, or raise BadLogin. Unknown keys are ignored."""
    if not isinstance(message, dict) or "username" not in message:
        raise BadLogin('log in first: {"username": "NAME"}')
    features, version = read_features(message, (DRAW,)), read_version(message.get("version"))
    return DuelLogin(_name(message["username"]), message.get("password"), DRAW in features, version)


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise BadLogin("username is text")
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadLogin(f"username has 1 to {LONGEST_NAME} characters")
    if not can_be_shown(name):
        raise BadLogin("username has printable characters only")
    return name


# Duel arena's messages: gomoku in JSON objects, written byte for byte as the original writes them.

FREE = b'{"event": "player_is_free"}'
QUESTION, BOARD = b'{"event": "get_move", "id": "', b'", "board": '


def starting_game(against: str) -> bytes:
    return b'{"event": "starting_game", "against": %b}' % json.dumps(against).encode()


STONES = {point: b", [%d, %d]" % point for point in KNOWN_STONES}
"""The text of each stone, after another one."""


@lru_cache
def _ends_of_question(time_left: Milliseconds | None) -> tuple[bytes, ...]:
    """Return the text after the board for each seat."""
    seconds = "null" if time_left is None else repr(time_left / 1000)
    return tuple([f']}}, "timeout": {seconds}, "color": "{mark}"}}'.encode() for mark in MARKS])


class Duel:
    """Writes to the players of one match that use this protocol.

    The text of a board grows by one move at a time and is the same for both of them. `new_id` gives
    the id of a question.
    """

    def __init__(
        self, names: tuple[str, ...], first_board: int, new_id: Callable[[], bytes]
    ) -> None:
        self.first_board = first_board
        """The id of the first board; the others count up."""
        self.draws: set[Player] = set()
        """Players that want to be told of draws, which the original does not announce."""
        self._stones, self._before = 0, 0
        """The number of moves on this board, and on those before it."""
        self._names, self._new_id = names, new_id
        self._order: tuple[Player, ...] = ()
        self._board = b""
        self._asked: Player | None = None
        self._id = b""
        self._time_left: Milliseconds | None = None
        self._ends = _ends_of_question(None)
        """The ends of a question with this time left, which is nearly always the same."""
        self._played: Raw = {}
        self._sent: Raw = {}
        """The coordinates of the last unusual answer, as played and as echoed."""

    @property
    def started(self) -> bool:
        return bool(self._order)

    @property
    def moves(self) -> int:
        return self._before + self._stones

    # News of the match.

    def on_news(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        """Return the messages for the news of one input: results first, then the next question.

        Most news is a single move, about which only the next player is told.
        """
        if len(news) != 1 or type(event := news[0][0]) is not Played:
            return self._tell_all(news, status, players)
        position: Any = news[0][1]
        if event.moves:  # otherwise the player has passed
            stone, stones = STONES[position.history[-1]], self._stones  # _add_stone(), _ask()
            self._board += stone if stones else stone[2:]  # and _question(), without the calls
            self._stones = stones + 1
        (seat,) = position.to_move
        player = self._order[seat]
        if player not in players:
            self._asked = None
            return {}
        self._asked, self._id = player, self._new_id()
        if (time_left := status.time_left) != self._time_left:
            self._time_left, self._ends = time_left, _ends_of_question(time_left)
        return {player: [b"".join((QUESTION, self._id, BOARD, self._board, self._ends[seat]))]}

    def _tell_all(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        told: PlayerMessages = {player: [] for player in players}
        goes_on = False
        for event, position in news:
            match event:
                case Played():
                    if event.moves:
                        self._add_stone(position.history[-1])  # type: ignore[attr-defined]
                    goes_on = True
                case Began():
                    self._lay_board(event, position, told)
                    goes_on = True
                case Refused() if event.strikes and event.player in told:
                    sent = self._sent if event.move is self._played else event.move
                    told[event.player].append(
                        self._invalid(json.dumps(sent["x"]), json.dumps(sent["y"]))
                    )
                case Out() if event.cause != "illegal moves" and event.player in told:
                    told[event.player].append(self._invalid("null", "null"))
                case BoardEnded():
                    self._say_result(event.result, told)
                case Ended():
                    goes_on = False
        if goes_on and (player := self._ask(news[-1][1], players)) is not None:
            told[player].append(self._question(player, status))
        return told

    def resume(self, player: Player, status: MatchStatus) -> list[bytes]:
        """Return the messages for a client that takes over the seat: the opponent, and an open
        question again.
        """
        messages = [starting_game(self._names[1 - player])]
        if self._asked == player:
            self._id = self._new_id()
            messages.append(self._question(player, status))
        return messages

    def _lay_board(self, event: Began, position: Any, told: PlayerMessages) -> None:
        self._before, self._stones = self.moves, 0
        self._order = event.order
        self._board = b'{"_id": %d, "_size": %d, "_win_length": %d, "_moves": [' % (
            self.first_board + event.board,
            position.size,
            position.win_length,
        )
        for point in position.history:
            self._add_stone(point)
        if event.board == 0:
            for player, messages in told.items():
                messages.append(starting_game(self._names[1 - player]))

    def _add_stone(self, point: Point) -> None:
        stone = STONES[point]
        self._board += stone if self._stones else stone[2:]
        self._stones += 1

    def _say_result(self, result: BoardResult, told: PlayerMessages) -> None:
        self._asked = None
        decided = result.places.count(1) == 1
        for player, messages in told.items():
            if decided:
                messages.append(
                    self._about_board(b"win" if result.places[player] == 1 else b"lose")
                )
            elif player in self.draws:
                messages.append(self._about_board(b"draw"))

    def _about_board(self, event: bytes) -> bytes:
        return b'{"event": "%b", "board": %b]}}' % (event, self._board)

    def _invalid(self, x: str, y: str) -> bytes:
        return b'{"event": "invalid_move", "x": %b, "y": %b, "board": %b]}}' % (
            x.encode(),
            y.encode(),
            self._board,
        )

    def _ask(self, position: Any, players: Collection[Player]) -> Player | None:
        """Return the player that gets the next question; None: it uses another protocol."""
        (seat,) = position.to_move
        player: Player = self._order[seat]
        if player not in players:
            self._asked = None
            return None
        self._asked, self._id = player, self._new_id()
        return player

    def _question(self, player: Player, status: MatchStatus) -> bytes:
        end = _ends_of_question(status.time_left)[self._order.index(player)]
        return b"".join((QUESTION, self._id, BOARD, self._board, end))

    # Input of a player.

    def plain_move(self, player: Player, frame: bytes) -> Raw | None:
        """Return the move of a usual answer, as `read_frame` and `read_move` do; None if it is
        unusual.
        """
        if self._asked != player:
            return None
        before, _, after = frame.partition(self._id)
        try:
            move = _plain_move(before, after)
        except Unusual:
            return None
        self._asked = None
        return move

    def read_move(self, player: Player, message: dict[str, Any]) -> Raw:
        """Return the move in a `make_move`: the first that answers the open question.

        Raise Ignored for all others.
        """
        if self._asked != player:
            raise Ignored("no move is asked for")
        if message.get("id") != self._id.decode():
            raise Ignored("its id is not that of the open question")
        self._sent = {key: number_in(message, key) for key in ("x", "y")}
        self._played = {
            key: max(-GREATEST, min(number, GREATEST)) for key, number in self._sent.items()
        }
        self._asked = None
        return self._played


GAME = "gomoku"
SURPLUS = 4
"""Answers for each move of a match that may be ignored before they count against the rate limit."""


class DuelConversation(Conversation):
    def __init__(
        self,
        make_writer: MakeWriter,
        login_limit: Seconds,
        message_rate: float,
        message_burst: int,
        now: Seconds,
    ) -> None:
        """`make_writer` returns a `Duel`."""
        self.deadline: Seconds | None = now + login_limit
        self._make_writer, self._login_limit = make_writer, login_limit
        self._limit = TokenBucket(message_rate, message_burst, now)
        self._login: DuelLogin | None = None
        self._entered = self._over = self._input_ended = self._superseded = False
        self._wants_opponent = False
        """The client has asked for an opponent before it was free."""
        self._player: Player = 0
        self._duel: Duel | None = None
        self._ignored = 0
        """Answers in this match that did not count."""

    # What the client sends.

    def receive(self, message: bytes, now: Seconds) -> Outs:
        duel = self._duel
        if duel is not None and (move := duel.plain_move(self._player, message)) is not None:
            return (Submit(move, message),)
        if self._over:
            return ()
        try:
            value = read_frame(message)
        except BadFrame as problem:
            return self._cut_off("frame", str(problem), message)
        event = value.get("event") if isinstance(value, dict) else None
        outs: Outs = ()
        if event == "make_move" and duel is not None:
            outs = self._answered(duel, value, message)
            if isinstance(outs[0], Submit) or self._ignored <= SURPLUS * duel.moves:
                return outs
        if not self._limit.take(now):
            return *outs, *self._cut_off("flood", "too many messages", message)
        return outs or self._handle(event, value, message)

    def _handle(self, event: Any, value: Any, message: bytes) -> Outs:
        if self._login is None:
            return self._read_login(value)
        if event == "find_opponent":
            return self._find_opponent()
        if event != "make_move":
            return (RecordMessage(message, "ignored: neither make_move nor find_opponent"),)
        return ()

    def _answered(self, duel: Duel, value: Any, message: bytes) -> Outs:
        """Some bots answer each question twice, at any speed, so a number of ignored answers is
        free.
        """
        try:
            return (Submit(duel.read_move(self._player, value), message),)
        except Ignored as problem:
            self._ignored += 1
            return (RecordMessage(message, f"ignored: {problem}"),)

    def _find_opponent(self) -> Outs:
        """Asking too early or twice is harmless: until a match begins it is the same wish."""
        if not self._entered or (self._duel is not None and self._duel.started):
            self._wants_opponent = True
            return ()
        return () if self._duel is not None else (FindOpponent(),)

    def _read_login(self, value: Any) -> Outs:
        try:
            login = self._login = read_duel_login(value)
        except BadLogin as problem:
            return self._fail(str(problem))
        return (Admit(login.name, login.token, GAME, version=login.version),)

    # What the server decides.

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        if self._over:
            return ()
        match reply:
            case Seated():
                self._take_seat(reply)
            case Dismissed():
                return self._dismissed(reply)
            case Entered():
                return self._welcome(reply)
            case Admitted():
                return self._admitted()
            case EndOfInput():
                self._input_ended = True
            case Superseded():
                self._superseded = True
            case _:
                return self._refused(reply)
        return ()

    def _refused(self, reply: Reply) -> Outs:
        match reply:
            case LoginRefused():
                return self._fail(reply.words)
            case Removed():
                return self._cut_off("removed", reply.words)
            case Unreadable():
                return self._cut_off("frame", reply.why)
            case CannotPlay() | TokenChanged():
                return self._close()  # clients of the original know no message for it
        return ()

    def _admitted(self) -> Outs:
        login = self._login
        assert login is not None
        if self._input_ended:  # it can make no move, so it takes nobody's place and meets nobody
            return OK, FREE, *self._close()
        return (Enter(login.name, login.token if isinstance(login.token, str) else ""),)

    def _welcome(self, reply: Entered) -> Outs:
        self.deadline, self._entered = None, True
        if self._duel is None:
            return OK, FREE, *self._go_on()
        if reply.status is None:
            return (OK,)
        return OK, *self._duel.resume(self._player, reply.status)

    def _take_seat(self, reply: Seated) -> None:
        self._player, self._ignored, self._wants_opponent = reply.player, 0, False
        duel = reply.writers.join(reply.player, self._make_writer)
        assert isinstance(duel, Duel)
        self._duel = duel
        if self._login is not None and self._login.draws:
            duel.draws.add(reply.player)
        else:
            duel.draws.discard(reply.player)  # the client that had the seat before may have asked

    def _dismissed(self, reply: Dismissed) -> Outs:
        self._duel = None
        if reply.failed or reply.stopping or self._superseded:
            return self._close()
        return FREE, *self._go_on()

    def _go_on(self) -> Outs:
        """The client is free."""
        wanted, self._wants_opponent = self._wants_opponent, False
        return (FindOpponent(),) if wanted else ()

    # What happens at the table, and what does not happen in time.

    def wake(self, now: Seconds) -> Outs:
        self.deadline = None
        return self._fail(f"no login within {self._login_limit:g} seconds")

    # How it ends.

    def _fail(self, words: str) -> Outs:
        self._over, self._duel = True, None
        return error(words), Close(refused="login")

    def _cut_off(self, refused: str, words: str, message: bytes = b"") -> Outs:
        self._over, self._duel = True, None
        return RecordMessage(message, words), error(words), Close(reason=words, refused=refused)

    def _close(self) -> Outs:
        self._over, self._duel = True, None
        return (Close(),)

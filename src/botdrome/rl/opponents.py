"""Tables at which a learner plays against bots.

House bots, functions and recorded moves answer at once, so a DirectTable asks them. All other bots
are played by the offline runner as in `botdrome play`: a RunnerTable runs it in a thread, where the
learner has a seat that waits for its actions.
"""

import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import signature
from queue import SimpleQueue
from threading import Thread
from typing import Any

from botdrome.bots.house import house_bots, seated
from botdrome.encodings import policy_bot
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Raw, View
from botdrome.match.events import Player
from botdrome.match.record import match_file
from botdrome.offline.bot import BotInstance
from botdrome.offline.isolation import as_json
from botdrome.offline.seats import PREFIX, FunctionSeat, Seat, check_bot, make_seat, recorded_turns
from botdrome.offline.table import beginning, play_match
from botdrome.offline.tournament import seed_of_bot
from botdrome.rl.episode import Episode, TrainingSetup

Entrant = Any
"""A bot as the caller names it: a text as in `botdrome play`, a function, class or object, a
policy, or a pool of these.
"""
LEARNER = "learner"


class PolicyPool:
    """Opponents of which each episode draws one, such as earlier states of the learner.

    Of more than `size`, the oldest go.
    """

    def __init__(self, *members: Entrant, size: int = 20) -> None:
        if not members:
            raise BadOption("a pool has at least one opponent to begin with")
        self._members = deque(members, maxlen=size)

    def add(self, member: Entrant) -> None:
        """Let the next episodes draw this opponent, too."""
        self._members.append(member)

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Entrant]:
        return iter(self._members)

    def drawn(self, chance: Chance) -> Entrant:
        return self._members[chance.below(len(self._members))]


def is_policy(entrant: Entrant) -> bool:
    """Return whether it is called with an observation and a mask, instead of with a view."""
    if (
        isinstance(entrant, type)
        or not callable(entrant)
        or callable(getattr(entrant, "move", None))
    ):
        return False
    try:
        given = signature(entrant).parameters.values()
    except ValueError:
        return False
    positional = [one for one in given if one.kind <= one.POSITIONAL_OR_KEYWORD]
    return sum(one.default is one.empty for one in positional) == 2


def check_opponent(entrant: Entrant, game: str, player: Player) -> None:
    """Raise CannotStart if a bot cannot be started."""
    if isinstance(entrant, PolicyPool):
        for member in entrant:
            check_opponent(member, game, player)
    elif isinstance(entrant, str):
        if entrant.startswith(PREFIX):
            recorded_turns(entrant, game, player)
        else:
            check_bot(entrant, game)


def names_of(setup: TrainingSetup, opponents: Mapping[Player, Entrant]) -> list[str]:
    names = [LEARNER] * setup.players
    for player, entrant in opponents.items():
        names[player] = entrant if isinstance(entrant, str) else "opponent"
    return names


def recorded_bot(entrant: str, game: str, player: Player) -> Callable[[View], Raw]:
    """Return a bot that plays the moves of a match file, then none."""
    moves = iter(recorded_turns(entrant, game, player))
    return lambda _: next(moves, None)


class DirectTable:
    def __init__(
        self, setup: TrainingSetup, seed: int, learner: Player, opponents: Mapping[Player, Entrant]
    ) -> None:
        self.episode, self._learner = Episode(setup, seed), learner
        self._names = names_of(setup, opponents)
        self._bots = {
            player: self._bot(entrant, player, seed) for player, entrant in opponents.items()
        }
        self._ask_opponents()

    def _bot(self, entrant: Entrant, player: Player, seed: int) -> Callable[[View], Raw]:
        game, own_seed = self.episode.setup.game, seed_of_bot(seed, player)
        if isinstance(entrant, str):
            if entrant.startswith(PREFIX):
                return recorded_bot(entrant, game.name, player)
            return seated(house_bots(game.name)[entrant.removeprefix("house:")], own_seed)
        if is_policy(entrant):
            return lambda _: self.episode.move(player, entrant(*self.episode.arrays(player)))
        instance = BotInstance(entrant)
        state, about = random.getstate(), beginning(game, self._names, player, own_seed, None)
        instance.begin(about | {"seed": own_seed})
        random.setstate(state)  # `begin` seeds it for the bot, and the learner may use it, too
        return lambda view: instance.move(as_json(view))

    def act(self, action: Any) -> None:
        self.episode.act(self._learner, action)
        self._ask_opponents()

    def _ask_opponents(self) -> None:
        """Let the opponents move until the learner must act, or can act no more."""
        episode, learner = self.episode, self._learner
        while not episode.over and (player := episode.next_player) != learner:
            played = episode.submit(player, self._bots[player](episode.view(player)))
            if played and episode.has_died(learner):
                break

    def record(self) -> bytes:
        return self.episode.record(self._names)

    def close(self) -> None:
        pass


class TableClosed(BaseException):
    """The learner gives the match up. Not an Exception, since it must pass through the runner."""


class LearnerSeat(FunctionSeat):
    """A seat that waits for actions.

    If a move is refused, it sends the same again, so that the learner misses the step.
    """

    def __init__(self, episode: Episode) -> None:
        super().__init__(None, trusted=True)
        self._episode = episode
        self._asked: tuple[int, int] | None = None
        self._raw: Raw = None
        self.turns: SimpleQueue[BaseException | None] = SimpleQueue()
        """Gets None when the learner must act or the match is over, or the exception that ended the
        match.
        """
        self.moves: SimpleQueue[tuple[Raw] | None] = SimpleQueue()
        """Gets the moves of the learner; None: it gives up."""

    def ask(self, view: View, limit: float) -> tuple[Raw, float]:
        match = self._episode.match
        if self._asked != (match.board.number, match.steps):
            self._asked = (match.board.number, match.steps)
            self.turns.put(None)
            answer = self.moves.get()
            if answer is None:
                raise TableClosed
            (self._raw,) = answer
        return self._raw, 0.0


class RunnerTable:
    def __init__(
        self, setup: TrainingSetup, seed: int, learner: Player, opponents: Mapping[Player, Entrant]
    ) -> None:
        self.episode, self._learner, self._opponents = Episode(setup, seed), learner, opponents
        self._names, self._seat = names_of(setup, opponents), LearnerSeat(self.episode)
        self._thread = Thread(
            target=self._play, args=(seed,), name="botdrome opponents", daemon=True
        )
        self._thread.start()
        self._wait()

    def _play(self, seed: int) -> None:
        problem: BaseException | None = None
        try:
            play_match(self.episode.match, tuple(self._names), partial(self._seat_of, seed))
        except TableClosed:
            pass
        except BaseException as error:
            problem = error
        finally:
            self._seat.turns.put(problem)

    def _seat_of(self, seed: int, player: Player) -> Seat:
        if player == self._learner:
            return self._seat
        entrant, game = self._opponents[player], self.episode.setup.game.name
        own_seed = seed_of_bot(seed, player)
        if not isinstance(entrant, str):
            bot = policy_bot(entrant) if is_policy(entrant) else entrant
            return FunctionSeat(bot, trusted=False, seed=own_seed)
        if entrant.startswith(PREFIX):
            return FunctionSeat(recorded_bot(entrant, game, player), trusted=True)
        return make_seat(entrant, game, self._names[player], own_seed)

    def _wait(self) -> None:
        problem = self._seat.turns.get()
        if problem is not None:
            raise problem

    def act(self, action: Any) -> None:
        self._seat.moves.put((self.episode.move(self._learner, action),))
        self._wait()

    def record(self) -> bytes:
        return match_file(self.episode.match, self._names)

    def close(self) -> None:
        if self._thread.is_alive():
            self._seat.moves.put(None)
            self._thread.join()


LearnerTable = DirectTable | RunnerTable
"""A match of a learner against bots. Between two calls it waits for the learner, or is over."""


def learner_table(
    setup: TrainingSetup, seed: int, learner: Player, opponents: Mapping[Player, Entrant]
) -> LearnerTable:
    if all(
        not isinstance(entrant, str) or entrant.startswith(("house:", PREFIX))
        for entrant in opponents.values()
    ):
        return DirectTable(setup, seed, learner, opponents)
    return RunnerTable(setup, seed, learner, opponents)

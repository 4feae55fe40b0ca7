"""Episode: one match that is played by action numbers, with the rewards of its players."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE
from botdrome.encodings import Array, Arrays, BadAction, Encoding, Memory
from botdrome.games.game import Game, IllegalMove, Raw, View
from botdrome.match.events import Player
from botdrome.match.inputs import Input
from botdrome.match.match import Match, apply
from botdrome.match.record import match_file
from botdrome.match.terms import Terms, offline
from botdrome.offline.isolation import as_json

Rewards = Literal["place", "score"]
Observation = dict[str, Array]
"""`observation` and `action_mask`."""


class TrainingSetup(Struct, frozen=True):
    """What all episodes of an environment have in common."""

    game: Game[Any]
    players: int
    terms: Terms
    encoding: Encoding
    rewards: Rewards = "place"
    views: bool = False
    """True: the infos have the raw view."""


def training_terms(game: str, boards: int | None) -> Terms:
    """Return the terms of a game as offline, except that a player may miss any number of steps."""
    terms = offline(CATALOGUE[game].terms)
    return replace(terms, patience=None, boards=terms.boards if boards is None else boards)


class Episode:
    """A match without its log of inputs: few matches are ever recorded, and the log would take a
    sixth of the time.
    """

    __slots__ = (
        "_board", "_encoding", "_memory", "_missed", "_now", "_open_views", "_position", "_result",
        "_totals", "_views", "finished", "inputs", "match", "seed", "setup",
    )  # fmt: skip

    def __init__(self, setup: TrainingSetup, seed: int) -> None:
        self.setup, self.seed, self._encoding = setup, seed, setup.encoding
        self.match = Match(setup.game, setup.players, setup.terms, seed)
        self.match.start()
        self.inputs: list[Input] = []
        self.finished: set[Player] = set()
        """The players for which the match is over."""
        self._board, self._position = self.match.board, self.match.board.position
        self._views: dict[Player, View] = {}
        """The views of `_position`."""
        self._open_views = setup.encoding.open_views
        self._memory: Memory = {}
        self._missed: set[Player] = set()
        """The players whose action was refused in this step."""
        self._now = 0
        self._totals = (0.0,) * setup.players
        """The score differences that were paid so far."""

    def record(self, names: Iterable[str]) -> bytes:
        """Return the match so far as a match file."""
        setup = self.setup
        match = Match(setup.game, setup.players, setup.terms, self.seed)
        match.start()
        for told in self.inputs:
            apply(match, told)
        return match_file(match, names)

    # What the players see.

    def view(self, player: Player) -> View:
        board = self.match.board
        if board.position is not self._position:
            self._position, self._views = board.position, {}
            if board is not self._board:
                self._board, self._memory = board, {}
        elif player in self._views:
            return self._views[player]
        elif self._open_views and self._views:
            other = next(iter(self._views.values()))
            view = self._views[player] = {**other, "you": board.seat_of[player]}
            return view
        view = self._views[player] = board.position.view(board.seat_of[player])
        return view

    def json_view(self, player: Player) -> View:
        """Return the view as a bot gets it."""
        return as_json(self.view(player))

    def arrays(self, player: Player) -> Arrays:
        return self._encoding.arrays(self.view(player), self._memory)

    def observe(self, player: Player) -> Observation:
        observation, mask = self.arrays(player)
        return {"observation": observation, "action_mask": mask}

    def info(self, player: Player) -> dict[str, Any]:
        """Return the raw view if it is wanted and, at the end, the place and the reason."""
        found: dict[str, Any] = {"view": self.json_view(player)} if self.setup.views else {}
        if player in self.finished:
            found |= {"place": self._result.places[player], "cause": self._result.causes[player]}
        return found

    # What the players do.

    @property
    def over(self) -> bool:
        return self.match.result is not None

    @property
    def next_player(self) -> Player:
        """The player that acts next. There is one until the match is over."""
        awaited = self.match.step.awaited
        return (
            next(player for player in awaited if player not in self._missed)
            if self._missed
            else awaited[0]
        )

    def act(self, player: Player, action: Any) -> bool:
        """Submit the move of an action. Return whether the step was played."""
        return self.submit(player, self.move(player, action))

    def move(self, player: Player, action: Any) -> Raw:
        """Return the move of an action. Raise BadAction if there is no such action."""
        number = action if type(action) is int else int(action)
        if 0 <= number < self._encoding.actions:
            return self._encoding.move(self.view(player), number)
        raise BadAction(f"an action is from 0 to {self._encoding.actions - 1}, not {action!r}")

    def submit(self, player: Player, raw: Raw) -> bool:
        """Give the match a move.

        If the rules refuse it, the player misses this step. Return whether the step was played.
        """
        match, board = self.match, self.match.board
        steps, seat = match.steps, board.seat_of[player]
        self.inputs.append((self._now, "move", player, raw))
        try:
            move = board.position.parse(seat, raw)
        except IllegalMove as problem:
            self._refuse(player, raw, str(problem))
        else:
            match.accept(player, seat, move, raw, self._now, [])
        if match.steps != steps or match.result is not None or match.board is not board:
            if self._missed:
                self._missed.clear()
            return True
        if player in match.step.awaited:
            return self.miss(player)
        return self._end_step_if_missed() if self._missed else False

    def _refuse(self, player: Player, raw: Raw, why: str) -> None:
        """Submit an illegal move.

        If the player would be out for not moving, it is out for that move.
        """
        self.match.submit(player, raw, self._now)
        if player in self.match.awaited and self.setup.terms.late == "out":
            self.inputs.append((self._now, "expel", player, ["illegal moves", why]))
            self.match.expel(player, "illegal moves", self._now, why)

    def miss(self, player: Player) -> bool:
        """Let a player miss this step.

        The step ends when no other player is awaited. Return whether it has.
        """
        self._missed.add(player)
        return self._end_step_if_missed()

    def _end_step_if_missed(self) -> bool:
        if not self._missed.issuperset(self.match.awaited):
            return False
        deadline = self.match.deadline
        assert deadline is not None
        self._now = deadline
        self._missed.clear()
        self.inputs.append((deadline, "wake", None, None))
        self.match.wake(deadline)
        return True

    # Ends and rewards.

    def just_finished(self) -> list[Player]:
        """Return the players for which the match has ended since the last call."""
        match, position = self.match, self.match.board.position
        if match.result is not None:
            found = [player for player in range(match.players) if player not in self.finished]
        elif self._encoding.mortal and len(self.finished) + len(position.to_move) < match.players:
            found = [
                player
                for player in range(match.players)
                if player not in self.finished and self.has_died(player)
            ]
        else:
            return []
        if found:
            self.finished.update(found)
            self._result = match.result or match.result_if_ended("complete")
        return found

    def has_died(self, player: Player) -> bool:
        """Return whether the player can act no more, though the match may go on."""
        board = self.match.board
        if not self._encoding.mortal or board.seat_of[player] in board.position.to_move:
            return False
        return not self._encoding.playing(self.view(player))

    def rewards(self, ended: list[Player]) -> dict[Player, float]:
        """Return the rewards of the last step, where they are not 0.

        `ended` are the players that have just finished.
        """
        if self.setup.rewards == "score":
            return self._score_rewards(ended)
        if not ended:
            return {}
        rewards = place_rewards(self._result.places)
        return {player: rewards[player] for player in ended}

    def _score_rewards(self, ended: list[Player]) -> dict[Player, float]:
        result = self.match.result or self.match.result_if_ended("complete")
        scores = [
            sum(board.scores[player] for board in result.boards)
            for player in range(self.setup.players)
        ]
        totals = tuple(own - (sum(scores) - own) / max(1, len(scores) - 1) for own in scores)
        paid = {player: total - self._totals[player] for player, total in enumerate(totals)}
        self._totals = totals
        for player in ended:
            paid[player] -= result.causes[player] != "complete"
        return paid


@lru_cache(1024)
def place_rewards(places: tuple[int, ...]) -> tuple[float, ...]:
    """Return 1 for the first place, -1 for the last, and even steps between them; tied players get
    the mean of their places.
    """
    last = max(1, len(places) - 1)
    means = [place + (places.count(place) - 1) / 2 for place in places]
    return tuple(1 - 2 * (mean - 1) / last for mean in means) if len(places) > 1 else (0.0,)

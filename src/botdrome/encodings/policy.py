"""A policy as a bot: a function from an observation and the mask of legal actions to an action."""

from collections.abc import Callable
from typing import Any

from botdrome.catalogue import CATALOGUE
from botdrome.encodings.by_game import encoding_of
from botdrome.encodings.encoding import Array, BadAction, Encoding
from botdrome.games.game import Raw, View
from botdrome.games.options import with_options

Policy = Callable[[Array, Array], Any]


class PolicyBot:
    """One match of a policy. It sees what any other bot sees."""

    _encoding: Encoding

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def begin(self, match: dict[str, Any]) -> None:
        game = with_options(CATALOGUE[match["game"]].game, match["options"])
        self._encoding = encoding_of(game, len(match["players"]))

    def move(self, view: View) -> Raw:
        observation, mask = self._encoding.arrays(view, {})
        action = int(self._policy(observation, mask))
        if 0 <= action < self._encoding.actions:
            return self._encoding.move(view, action)
        raise BadAction(
            f"the policy returned {action}; an action is from 0 to {self._encoding.actions - 1}"
        )


def policy_bot(policy: Any) -> type[PolicyBot]:
    """Return the class of a bot that plays a policy.

    A policy that is a class is created anew for each match.
    """

    class LoadedPolicy(PolicyBot):
        def __init__(self) -> None:
            super().__init__(policy() if isinstance(policy, type) else policy)

    return LoadedPolicy

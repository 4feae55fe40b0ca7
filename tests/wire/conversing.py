"""A client that talks to a conversation in memory, and the table of its match."""

import json
from typing import Any

from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match, News
from botdrome.wire.conversation import Command, Conversation, Dismissed, Outs, Reply, Seated, Submit
from botdrome.wire.writers import MatchHeader, MatchWriters, match_status


class Talk:
    """The messages to the client, as JSON, and the commands to the server."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.now = 0.0
        self.take(conversation.begin(0.0))

    def take(self, outs: Outs) -> tuple[list[Any], list[Command]]:
        sent = [json.loads(out) for out in outs if isinstance(out, bytes)]
        return sent, [out for out in outs if isinstance(out, Command)]

    def say(self, message: Any) -> tuple[list[Any], list[Command]]:
        sent = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.take(self.conversation.receive(sent, self.now))

    def hear(self, reply: Reply) -> tuple[list[Any], list[Command]]:
        return self.take(self.conversation.answer(reply, self.now))

    def wake(self) -> tuple[list[Any], list[Command]]:
        assert self.conversation.deadline is not None
        self.now = self.conversation.deadline
        return self.take(self.conversation.wake(self.now))


class MemoryTable:
    """A match between clients in memory. Their moves are played, and all get the news."""

    def __init__(self, game: str, *talks: Talk) -> None:
        row = CATALOGUE[game]
        self.talks = talks
        self.match = Match(row.game, len(talks), row.terms, 1)
        self.writers = MatchWriters(MatchHeader("m1", game, ("ada", "bob")[: len(talks)], None, 5))

    def seat_all(self) -> None:
        for player, talk in enumerate(self.talks):
            assert talk.hear(Seated(player, self.writers)) == ([], [])

    def publish(self, news: News) -> list[list[Any]]:
        """The messages to each client."""
        told = self.writers.written(news, match_status(self.match, 0))
        return [
            [json.loads(message) for message in told.get(player, [])]
            for player in range(len(self.talks))
        ]

    def start(self) -> list[list[Any]]:
        return self.publish(self.match.start())

    def play(self, player: int, message: Any) -> list[list[Any]]:
        sent, (submit,) = self.talks[player].say(message)
        assert sent == [] and isinstance(submit, Submit)
        return self.publish(self.match.submit(player, submit.raw, 0))

    def dismiss(
        self, failed: bool = False, stopping: bool = False
    ) -> list[tuple[list[Any], list[Command]]]:
        return [talk.hear(Dismissed(failed, stopping)) for talk in self.talks]

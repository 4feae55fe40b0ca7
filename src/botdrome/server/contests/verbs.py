"""Verbs of contests: what organisers and owners of bots do with a contest.

REST, GraphQL, pages and commands give these orders; `ContestOrders` has the table that says which
function carries out each of them.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from botdrome.contest.document import ContestDocument
from botdrome.store.entries import BotEntry

Action = Literal["open", "start", "pause", "resume", "end"]


class CreateContest(Struct, frozen=True):
    document: ContestDocument


class ChangeContest(Struct, frozen=True):
    """Replace the document of a contest that has not started."""

    document: ContestDocument


class ContestAction(Struct, frozen=True, forbid_unknown_fields=True):
    action: Action


class Withdrawal(Struct, frozen=True, forbid_unknown_fields=True):
    """The organiser takes a bot out: it forfeits its matches of this round."""

    bot: str
    reason: str = ""


class RerunOfContest(Struct, frozen=True, forbid_unknown_fields=True):
    bots: Annotated[list[str], Meta(description="Play all matches of these bots again.")] = []
    failed: Annotated[
        bool, Meta(description="Play only matches with no-shows and crashes again.")
    ] = False


class EnterContest(Struct, frozen=True):
    bot: BotEntry
    password: str = ""


class LeaveContest(Struct, frozen=True):
    bot: BotEntry

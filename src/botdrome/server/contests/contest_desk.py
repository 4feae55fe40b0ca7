"""ContestDesk: brings waiting clients to the contests in which they play, and sets the tables for
them.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial

from botdrome.catalogue import CATALOGUE
from botdrome.contest.lobby import Seeker
from botdrome.games.options import with_options
from botdrome.server.contests.contests import ServerContests, check_version
from botdrome.server.contests.running_contest import RunningContest
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import NOBODY, is_another_bots
from botdrome.server.lobby.contest_queue import ContestPlayer, ContestTable, TableOpener, TableRules
from botdrome.server.lobby.desk import Desk, WaitingClient
from botdrome.server.network.connection import NORMAL, TRY_LATER
from botdrome.store.contest_journal import ContestRefusal

# ContestHold: a player that waits in all of its contests at once, since its protocol names none.
#
# The first match takes it.


class ContestHold:
    def __init__(
        self,
        player: ContestPlayer,
        contests: Callable[[], Iterable[RunningContest]],
        join: Callable[[str], None],
    ) -> None:
        """`contests` returns those in which it plays now, and `join` is told the names of those in
        which it begins to wait.

        The player is released when all of them are over.
        """
        self._player, self._contests, self._join = player, contests, join
        self._joined: dict[str, RunningContest] = {}
        self.waits = True

    def join(self) -> None:
        """Wait in the contests in which it does not wait yet."""
        for contest in self._contests():
            if self.waits and contest.name not in self._joined:
                self._joined[contest.name] = contest
                self._join(contest.name)
                release = partial(self._over, contest.name)
                contest.arrive(self._player._replace(release=release, on_seat=self._seated))

    def leave(self) -> None:
        self.waits = False
        while self._joined:
            _, contest = self._joined.popitem()
            contest.depart(self._player.name, self._player.ticket)

    def _seated(self) -> Callable[[], None]:
        """One contest has seated it: for the others it is busy until the returned function is
        called.
        """
        self.waits = False
        name, ticket = self._player.name, self._player.ticket
        lenders = [
            contest for contest in self._joined.values() if contest.players.lend(name, ticket)
        ]
        self._joined.clear()
        self._player.on_seat()

        def back() -> None:
            for contest in lenders:
                contest.take_back(name)

        return back

    def _over(self, name: str) -> None:
        self._joined.pop(name, None)
        if self.waits and not self._joined:
            self.waits = False
            self._player.release()


class ContestDesk:
    rank = 0

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.contests = ServerContests(
            desk.store, desk.workers, desk.tasks.start, self._refusal, self._house_player
        )
        self._holds: dict[int, ContestHold] = {}
        """By ticket. Those that wait no longer are dropped when contests change."""
        self.on_change = self.contests.on_change
        self.on_change.append(self._join_contests)
        desk.contest_queue = self

    def _refusal(self, game: str) -> str:
        """Return why no match of a contest of a game may begin at present; empty if matches may
        begin.
        """
        if not self._desk.others.has_rooms(game):
            return "the contests of this game are at another node"
        return self._desk.refusal

    # Clients that name a contest.

    def seek(self, seeker: Seeker, client: WaitingClient) -> bool:
        wish = seeker.wish
        if wish.contest is None or self.contests.of_game(wish.game, wish.contest) is None:
            return False
        self._desk.tasks.start(self._enter(wish.contest, seeker, client))
        return True

    async def _enter(self, name: str, seeker: Seeker, client: WaitingClient) -> None:
        """Let a bot wait for its next match.

        A login enters the bot, where the rules of the contest allow it.
        """
        registry = self._desk.registry
        try:
            bot = registry.known(seeker.name) or await registry.find(seeker.name)
            if bot is None or not is_another_bots(client.owner, NOBODY):
                raise ContestRefusal("only registered bots play in contests")
            await self.contests.enter(name, bot, bot.name, version=client.version)
        except ContestRefusal as problem:
            return self._postpone(seeker, client, str(problem), NORMAL)
        except Exception:
            log_failure("a bot could not enter a contest")
            return self._postpone(
                seeker,
                client,
                "the contest cannot be entered at present; try again later",
                TRY_LATER,
            )
        return self._let_wait(
            name, seeker, client, lambda: self._release(name, seeker.name, client)
        )

    def _postpone(self, seeker: Seeker, client: WaitingClient, words: str, code: int) -> None:
        """A client of the original waits, and tries again: its bot may be entered by then."""
        if self._desk.client_of(seeker) is client:
            self._desk.give_up(client)
            self._desk.postponed.add(client, seeker, words, code)

    def _release(self, name: str, bot: str, client: WaitingClient) -> None:
        """The contest is over for a bot, or another version has taken its place."""
        contest = self.contests.running(name)
        if contest is None or not contest.has(bot):
            return client.contest_complete(name)
        return client.turn_away(
            {"error": f"another version of {bot} has taken its place in the contest {name!r}"}
        )

    def leave(self, seeker: Seeker) -> None:
        contest = self.contests.running(seeker.wish.contest or "")
        if (hold := self._holds.pop(seeker.ticket, None)) is not None:
            hold.leave()
        elif contest is not None:
            contest.depart(seeker.name, seeker.ticket)

    def _let_wait(
        self, name: str, seeker: Seeker, client: WaitingClient, release: Callable[[], None]
    ) -> None:
        if self._desk.client_of(seeker) is not client:
            return None
        contest = self.contests.running(name)
        if contest is None:
            return release()
        take = partial(self._desk.recruit, seeker)
        player = ContestPlayer(
            seeker.ticket, seeker.name, client.owner, self, take, release, client.version
        )
        if seeker.all_contests:
            self._hold(player, lambda: self.contests.expecting(seeker.wish.game, seeker.name))
        else:
            contest.arrive(player)
        return self._desk.announce(seeker)

    # Clients of protocols whose logins name no contest.

    def expecting(self, game: str, bot: str) -> str | None:
        return next((contest.name for contest in self.contests.expecting(game, bot)), None)

    def expects(self, rules: TableRules, bot: str, owner: str, version: str) -> bool:
        found = self._with_rules(rules, bot) if is_another_bots(owner, NOBODY) else []
        if found and not self._allowing(version, bot, found):
            check_version(self.contests.known(found[0].name), bot, version)
        return bool(found)

    def _with_rules(self, rules: TableRules, bot: str) -> list[RunningContest]:
        found = [
            (contest, contest.document) for contest in self.contests.expecting(rules.game.name, bot)
        ]
        usual = CATALOGUE[rules.game.name].game
        return [
            one
            for one, document in found
            if document.seats in rules.sizes and with_options(usual, document.options) == rules.game
        ]

    def _allowing(
        self, version: str, bot: str, contests: Sequence[RunningContest]
    ) -> list[RunningContest]:
        found = []
        for contest in contests:
            with suppress(ContestRefusal):
                check_version(self.contests.known(contest.name), bot, version)
                found.append(contest)
        return found

    def hold(
        self,
        rules: TableRules,
        bot: str,
        owner: str,
        version: str,
        opener: TableOpener,
        release: Callable[[], None],
    ) -> Callable[[], None]:
        player = ContestPlayer(
            next(self._desk.tickets), bot, owner, opener, lambda: None, release, version
        )
        return self._hold(player, lambda: self._with_rules(rules, bot)).leave

    def _hold(
        self, player: ContestPlayer, contests: Callable[[], Sequence[RunningContest]]
    ) -> ContestHold:
        def allowing() -> list[RunningContest]:
            return self._allowing(player.version, player.name, contests())

        def renew(contest: str) -> None:
            self._desk.tasks.start(self._renew(contest, player.name, player.version))

        hold = self._holds[player.ticket] = ContestHold(player, allowing, renew)
        hold.join()
        return hold

    def _join_contests(self) -> None:
        """Let players wait in contests that have started, too."""
        self._holds = {ticket: hold for ticket, hold in self._holds.items() if hold.waits}
        for hold in list(self._holds.values()):
            hold.join()

    async def _renew(self, name: str, bot: str, version: str) -> None:
        """Store the version of a player of a room, which was checked."""
        try:
            entry = self._desk.registry.known(bot) or await self._desk.registry.find(bot)
            if entry is not None:
                await self.contests.enter(name, entry, bot, version=version)
        except Exception:
            log_failure("the version of a bot in a contest could not be stored")

    # Tables.

    def _house_player(self, name: str) -> ContestPlayer:
        return ContestPlayer(
            next(self._desk.tickets), name, NOBODY, self, lambda: None, is_house=True
        )

    def open_for_contest(self, plan: ContestTable, players: Sequence[ContestPlayer]) -> None:
        gathered = [player.gathered(plan.game.name) for player in players]
        table = self._desk.set_table(
            plan.game, plan.terms, gathered, plan.options, plan.contest, seed=plan.seed
        )
        plan.prepare(table)
        self._desk.tables.start_table(table, [player.client for player in gathered])

"""The endpoints of the operator: /api/v1/operator/..."""

from botdrome.api.rest import nodes
from botdrome.api.rest import operator_clients as clients
from botdrome.api.rest import operator_contests as contests
from botdrome.api.rest import operator_games as games
from botdrome.api.rest.contest_documents import DocumentedContest
from botdrome.api.rest.endpoint import PAGING, Parameter, RestEndpoint, sorted_by
from botdrome.api.rest.operator_session import SignedIn, SignIn, session, signin, signout
from botdrome.server.boats.plan import RoomPlan
from botdrome.server.operator.client_list import COLUMNS

ROOT = "/operator"
WRONG = (401, "There is no session and no token, or it is not the operator's.")
GUESSING = (429, "Too many wrong tokens came from this address.")
LIMITS = (WRONG, (403, "The request comes from a page of another server."), GUESSING)
MEDIA = (415, "The body is not JSON.")
NO_RUN, NO_ROOM = (404, "There is no such run."), (404, "There is no such room.")
NO_CONTEST = (404, "There is no such contest.")
NOT_NOW = (409, "That cannot be done now.")

OPERATOR_ENDPOINTS = (
    RestEndpoint(
        "POST", f"{ROOT}/session", "Sign in as the operator: sets a cookie.", signin, SignedIn, body=SignIn,
        problems=(WRONG, MEDIA, GUESSING),
    ),
    RestEndpoint(
        "GET", f"{ROOT}/session", "How long the operator's session lasts.", session, SignedIn,
        private=True, problems=LIMITS,
    ),
    RestEndpoint("DELETE", f"{ROOT}/session", "Sign out.", signout, SignedIn),
    RestEndpoint(
        "GET", f"{ROOT}/clients", "The connected clients of all protocols.", clients.clients, clients.ClientsShown,
        (
            sorted_by(*COLUMNS),
            Parameter("search", "Part of the name, address, protocol, game or node."),
            *PAGING,
        ), private=True, problems=LIMITS,
    ),
    RestEndpoint(
        "DELETE", f"{ROOT}/clients", "Close connections. Their bots may come back.", clients.removeclients, clients.RestRemoved,
        body=clients.Removal,
        private=True, problems=(*LIMITS, (404, "There is no such client."), MEDIA),
    ),
    RestEndpoint(
        "GET", f"{ROOT}/bans", "The bans in force, the newest first.", clients.bans, clients.BansShown, PAGING,
        private=True, problems=LIMITS,
    ),
    RestEndpoint(
        "POST", f"{ROOT}/bans", "Ban a name or an address, and close its connections.", clients.ban, clients.BanShown,
        body=clients.NewBan,
        private=True, status=201, problems=(*LIMITS, MEDIA),
    ),
    RestEndpoint(
        "DELETE", f"{ROOT}/bans", "Lift a ban.", clients.liftban, clients.BanShown, body=clients.BannedSubject,
        private=True, problems=(*LIMITS, (404, "There is no such ban."), MEDIA),
    ),
    RestEndpoint(
        "POST", f"{ROOT}/matches/{{id}}/end", "Abort a running match.", clients.endmatch, clients.EndedMatch,
        body=clients.EndOfMatch,
        private=True, problems=(*LIMITS, (404, "No such match runs."), MEDIA),
    ),
    RestEndpoint(
        "GET", f"{ROOT}/audit", "The audit log, the latest entry first.", clients.audit, clients.AuditShown, PAGING,
        private=True, problems=LIMITS,
    ),
    RestEndpoint(
        "PUT", f"{ROOT}/nodes/{{name}}", "Have a node take no new matches, or take them again.", nodes.changenode,
        nodes.NodeState, body=nodes.NodeState, private=True, problems=(*LIMITS, (404, "There is no such node."), MEDIA),
    ),
    RestEndpoint(
        "POST", f"{ROOT}/contests", "Create a contest from its document.", contests.createcontest, DocumentedContest,
        body=contests.GivenDocument, private=True, status=201, problems=(*LIMITS, NOT_NOW, MEDIA),
    ),
    RestEndpoint(
        "GET", f"{ROOT}/contests/{{name:path}}", "The document of a contest in TOML, to be changed.",
        contests.contesttext, contests.ContestText, private=True, problems=(*LIMITS, NO_CONTEST),
    ),
    RestEndpoint(
        "PUT", f"{ROOT}/contests/{{name:path}}", "Change the document of a contest that has not started.",
        contests.changecontest, DocumentedContest, body=contests.GivenDocument,
        private=True, problems=(*LIMITS, NO_CONTEST, NOT_NOW, MEDIA),
    ),
    RestEndpoint(
        "POST", f"{ROOT}/contest-actions/{{name:path}}", "Open, start, pause, resume or end a contest.",
        contests.actoncontest, DocumentedContest, body=contests.ContestAction,
        private=True, problems=(*LIMITS, NO_CONTEST, NOT_NOW, MEDIA),
    ),
    RestEndpoint(
        "POST", f"{ROOT}/contest-reruns/{{name:path}}", "Let matches of a paused contest be played again.",
        contests.reruncontest, DocumentedContest, body=contests.RerunOfContest,
        private=True, problems=(*LIMITS, NO_CONTEST, NOT_NOW, MEDIA),
    ),
    RestEndpoint(
        "POST", f"{ROOT}/contest-withdrawals/{{name:path}}", "Take a bot out of a contest: it forfeits its open matches.",
        contests.withdrawbot, DocumentedContest, body=contests.Withdrawal,
        private=True, problems=(*LIMITS, NO_CONTEST, NOT_NOW, MEDIA),
    ),
    RestEndpoint(
        "GET", f"{ROOT}/cube", "Runs of Battlecube games, the newest first.", games.cuberuns, games.CubeRunsShown,
        private=True, problems=LIMITS,
    ),
    RestEndpoint(
        "POST", f"{ROOT}/cube", "Start one Battlecube game, or many in a row.", games.startcube, games.CubeRunShown,
        body=games.NewCubeRun,
        private=True, status=201, problems=(*LIMITS, MEDIA),
    ),
    RestEndpoint(
        "GET", f"{ROOT}/cube/{{id}}", "A run with the scores of its games.", games.cuberun, games.CubeRunShown,
        private=True, problems=(*LIMITS, NO_RUN),
    ),
    RestEndpoint(
        "PUT", f"{ROOT}/cube/{{id}}", "Change, pause or resume a run.", games.changecube, games.CubeRunShown,
        body=games.CubeRunChange,
        private=True, problems=(*LIMITS, NO_RUN, NOT_NOW, MEDIA),
    ),
    RestEndpoint(
        "DELETE", f"{ROOT}/cube/{{id}}", "Stop a run.", games.stopcube, games.CubeRunShown, private=True, problems=(*LIMITS,
        NO_RUN),
    ),
    RestEndpoint(
        "GET", f"{ROOT}/boats", "The rooms for boat games.", games.boatrooms, games.BoatRoomsShown, private=True,
        problems=LIMITS,
    ),
    RestEndpoint(
        "POST", f"{ROOT}/boats", "Open a room for boat games.", games.openboats, games.BoatRoomShown, body=RoomPlan,
        private=True, status=201, problems=(*LIMITS, MEDIA),
    ),
    RestEndpoint(
        "PUT", f"{ROOT}/boats", "Change a room while no player waits in it.", games.changeboats, games.BoatRoomShown,
        body=games.BoatRoomChange,
        private=True, problems=(*LIMITS, NO_ROOM, NOT_NOW, MEDIA),
    ),
    RestEndpoint(
        "POST", f"{ROOT}/boats/orders", "Give an order to a room, as its host does.", games.orderboats, games.BoatOrderDone,
        body=games.BoatOrder,
        private=True, problems=(*LIMITS, NO_ROOM, NOT_NOW, MEDIA),
    ),
)  # fmt: skip

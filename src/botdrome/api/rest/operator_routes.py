"""The operator's endpoints: /api/v1/operator/..."""

from botdrome.api.rest.endpoint import PAGING, Endpoint, Parameter, sorted_by
from botdrome.api.rest.operator_answers import (
    AuditShown,
    BannedSubject,
    BanShown,
    BansShown,
    BoatOrder,
    BoatOrderDone,
    BoatRoomChange,
    BoatRoomShown,
    BoatRoomsShown,
    ClientsShown,
    CubeRunChange,
    CubeRunShown,
    CubeRunsShown,
    EndedMatch,
    EndOfMatch,
    NewBan,
    NewCubeRun,
    Removal,
    Removed,
    SignedIn,
    SignIn,
)
from botdrome.api.rest.operator_clients import SORTS, audit, ban, bans, clients, endmatch, liftban, removeclients
from botdrome.api.rest.operator_games import (
    boatrooms,
    changeboats,
    changecube,
    cuberun,
    cuberuns,
    openboats,
    orderboats,
    startcube,
    stopcube,
)
from botdrome.api.rest.operator_session import session, signin, signout
from botdrome.server.boats.plan import RoomPlan

ROOT = "/operator"
WRONG = (401, "There is no session and no token, or it is not the operator's.")
GUESSING = (429, "Too many wrong tokens came from this address.")
LIMITS = (WRONG, (403, "A page of another server asks."), GUESSING)
MEDIA = (415, "The body is not JSON.")
NO_RUN, NO_ROOM = (404, "There is no such run."), (404, "There is no such room.")
NOT_NOW = (409, "That cannot be done now.")

OPERATOR_ENDPOINTS = (
    Endpoint(
        "POST", f"{ROOT}/session", "Sign in as the operator: sets a cookie.", signin, SignedIn, body=SignIn,
        problems=(WRONG, MEDIA, GUESSING),
    ),
    Endpoint(
        "GET", f"{ROOT}/session", "How long the operator's session lasts.", session, SignedIn,
        private=True, problems=LIMITS,
    ),
    Endpoint("DELETE", f"{ROOT}/session", "Sign out.", signout, SignedIn),
    Endpoint(
        "GET", f"{ROOT}/clients", "Who is connected, by any protocol.", clients, ClientsShown,
        (
            sorted_by(*SORTS),
            Parameter("search", "Part of the name, address, protocol or game."),
            *PAGING,
        ), private=True, problems=LIMITS,
    ),
    Endpoint(
        "DELETE", f"{ROOT}/clients", "Close connections. Their bots may come back.", removeclients, Removed, body=Removal,
        private=True, problems=(*LIMITS, (404, "There is no such client."), MEDIA),
    ),
    Endpoint(
        "GET", f"{ROOT}/bans", "The bans in force, the newest first.", bans, BansShown, PAGING,
        private=True, problems=LIMITS,
    ),
    Endpoint(
        "POST", f"{ROOT}/bans", "Ban a name or an address. Clients that are here go.", ban, BanShown, body=NewBan,
        private=True, status=201, problems=(*LIMITS, MEDIA),
    ),
    Endpoint(
        "DELETE", f"{ROOT}/bans", "Lift a ban.", liftban, BanShown, body=BannedSubject,
        private=True, problems=(*LIMITS, (404, "There is no such ban."), MEDIA),
    ),
    Endpoint(
        "POST", f"{ROOT}/matches/{{id}}/end", "Abort a match that runs.", endmatch, EndedMatch, body=EndOfMatch,
        private=True, problems=(*LIMITS, (404, "No such match runs."), MEDIA),
    ),
    Endpoint(
        "GET", f"{ROOT}/audit", "What the operator did, the last first.", audit, AuditShown, PAGING,
        private=True, problems=LIMITS,
    ),
    Endpoint(
        "GET", f"{ROOT}/cube", "Runs of Battlecube games, the newest first.", cuberuns, CubeRunsShown,
        private=True, problems=LIMITS,
    ),
    Endpoint(
        "POST", f"{ROOT}/cube", "Start one Battlecube game, or many in a row.", startcube, CubeRunShown, body=NewCubeRun,
        private=True, status=201, problems=(*LIMITS, MEDIA),
    ),
    Endpoint(
        "GET", f"{ROOT}/cube/{{id}}", "A run with the scores of its games.", cuberun, CubeRunShown,
        private=True, problems=(*LIMITS, NO_RUN),
    ),
    Endpoint(
        "PUT", f"{ROOT}/cube/{{id}}", "Change, pause or resume a run.", changecube, CubeRunShown, body=CubeRunChange,
        private=True, problems=(*LIMITS, NO_RUN, NOT_NOW, MEDIA),
    ),
    Endpoint(
        "DELETE", f"{ROOT}/cube/{{id}}", "Stop a run.", stopcube, CubeRunShown, private=True, problems=(*LIMITS, NO_RUN),
    ),
    Endpoint("GET", f"{ROOT}/boats", "The rooms for boat games.", boatrooms, BoatRoomsShown, private=True, problems=LIMITS),
    Endpoint(
        "POST", f"{ROOT}/boats", "Open a room for boat games.", openboats, BoatRoomShown, body=RoomPlan,
        private=True, status=201, problems=(*LIMITS, MEDIA),
    ),
    Endpoint(
        "PUT", f"{ROOT}/boats", "Change a room while nobody waits in it.", changeboats, BoatRoomShown, body=BoatRoomChange,
        private=True, problems=(*LIMITS, NO_ROOM, NOT_NOW, MEDIA),
    ),
    Endpoint(
        "POST", f"{ROOT}/boats/orders", "Have something done in a room, as a host.", orderboats, BoatOrderDone, body=BoatOrder,
        private=True, problems=(*LIMITS, NO_ROOM, NOT_NOW, MEDIA),
    ),
)  # fmt: skip

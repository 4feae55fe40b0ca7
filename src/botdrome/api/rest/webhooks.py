"""Webhooks over REST: those of all matches, of contests and of bots."""

from math import ceil

import msgspec
from msgspec import Struct

from botdrome.api.requests import Problem
from botdrome.api.rest.endpoint import PAGING, Endpoints, ListPage, Moment, RestRequest
from botdrome.server.arena import Arena
from botdrome.server.calling.webhooks import ALL, BOTS, CONTESTS, Webhook
from botdrome.server.lobby.clients import bot_owner

endpoint = Endpoints(
    "/webhooks",
    (401, "There is no token, or it is not the operator's, nor the bot's."),
    (429, "Too many wrong tokens came from this address, or too many changes of this webhook."),
    private=True,
)
"""With the operator's token; those of a bot with its own token, too."""
NONE = (404, "There is no such bot, contest or webhook.")
PATH = "/{subject:path}"


class NewWebhook(Struct, forbid_unknown_fields=True):
    url: str | None = None
    """Where it is told; null: the present URL stays, and gets a new secret."""


class WebhookSet(Struct):
    subject: str
    url: str
    secret: str
    """The key of the signatures, which is shown only once."""


class WebhookAttempt(Struct):
    id: str
    """As in the header webhook-id."""
    event: str
    at: Moment
    tried: Moment
    """The last attempt."""
    tries: int
    state: str
    """delivered, waiting or given up."""
    error: str
    """Why the last attempt failed; empty: it did not."""


class WebhookShown(Struct):
    subject: str
    """all, bots/NAME or contests/NAME."""
    url: str
    deliveries: list[WebhookAttempt]
    """The last 20, the latest attempt first."""


class WebhooksShown(ListPage):
    webhooks: list[WebhookShown]


class WebhookTested(Struct):
    error: str
    """Why the call failed; empty: the receiver has answered."""


@endpoint("GET", "", "All webhooks with their last deliveries, for the operator.", *PAGING)
async def webhooks(arena: Arena, request: RestRequest) -> WebhooksShown:
    assert arena.keys is not None
    await arena.keys.check(request.token)
    found = list(arena.webhooks.hooks.values())
    page = [await _shown(arena, hook) for hook in request.part(found)]
    return WebhooksShown(page, **request.page(len(found)))


@endpoint("GET", PATH, "A webhook with its last deliveries.", NONE)
async def webhook(arena: Arena, request: RestRequest) -> WebhookShown:
    await _mark(arena, request)
    return await _shown(arena, _found(arena, request))


@endpoint("PUT", PATH, "Set a webhook.", NONE, (422, "The server may not call that URL."))
async def setwebhook(arena: Arena, request: RestRequest, new: NewWebhook) -> WebhookSet:
    mark = await _mark(arena, request, "set")
    _check_rate(arena, request)
    url = _found(arena, request).url if new.url is None else new.url
    hook = await arena.webhooks.set(request.path("subject"), url, mark)
    return WebhookSet(hook.subject, hook.url, hook.secret)


@endpoint("POST", PATH, "Call a webhook now, with the event `test`.", NONE)
async def testwebhook(arena: Arena, request: RestRequest) -> WebhookTested:
    await _mark(arena, request)
    _check_rate(arena, request)
    return WebhookTested(await arena.webhooks.test(_found(arena, request)))


@endpoint("DELETE", PATH, "Remove a webhook, and what waits for it.", NONE)
async def removewebhook(arena: Arena, request: RestRequest) -> WebhookShown:
    await _mark(arena, request, "remove")
    shown = await _shown(arena, _found(arena, request))
    await arena.webhooks.remove(shown.subject)
    return shown


def _found(arena: Arena, request: RestRequest) -> Webhook:
    subject = request.path("subject")
    hook = arena.webhooks.hooks.get(subject)
    if hook is None:
        raise Problem(f"there is no webhook {subject!r}", 404)
    return hook


def _check_rate(arena: Arena, request: RestRequest) -> None:
    subject = request.path("subject")
    if seconds := arena.webhooks.requests.too_fast(subject):
        raise Problem(
            f"too many changes and tests of the webhook {subject!r}: try again in "
            f"{ceil(seconds)} s",
            429,
        )


async def _shown(arena: Arena, hook: Webhook) -> WebhookShown:
    lines = await arena.webhooks.log(hook.subject)
    return WebhookShown(hook.subject, hook.url, msgspec.convert(lines, list[WebhookAttempt]))


async def _mark(arena: Arena, request: RestRequest, change: str = "") -> str:
    """Return the mark of a subject, if the token may use its webhook; note the operator's
    changes.
    """
    subject = request.path("subject")
    kind, _, name = subject.partition("/")
    bot = await arena.store.bot(name) if kind == BOTS else None
    assert arena.keys and arena.contests
    if (
        bot is not None
        and not await arena.keys.is_token(request.token)
        and await arena.holder(name, request.token) is not None
    ):
        return bot_owner(bot)
    await arena.keys.check(request.token)
    if bot is None and kind != CONTESTS and subject != ALL:
        raise Problem(
            f"there is no bot {name!r}; a webhook is for {ALL}, {BOTS}/NAME or "
            f"{CONTESTS}/NAME, not {subject!r}",
            404,
        )
    game = (await arena.contests.document(name)).game if kind == CONTESTS else ""
    if change:
        await arena.audit.note(f"{change} webhook", subject)
    return bot_owner(bot) if bot else game

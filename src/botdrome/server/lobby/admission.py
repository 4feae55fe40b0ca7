"""The admission of a client that logs in, by any protocol."""

from botdrome.server.lobby.owners import bot_owner
from botdrome.server.lobby.registry import Admission, Denied, Registry
from botdrome.wire.conversation import Admit, AdmitGuest, Authenticate


async def admission_of(registry: Registry, command: Authenticate | Admit | AdmitGuest) -> Admission:
    """Raise Denied or TooMany if the client is not admitted."""
    if isinstance(command, AdmitGuest):
        return await registry.admit_guest(command.name, command.secret, command.match)
    if isinstance(command, Admit):
        return await registry.admit(command.name, command.token, command.game, command.needed)
    bot = await registry.authenticate(command.name, command.token)
    if bot is None or command.game not in ("", bot.game):
        raise Denied
    return Admission(bot.name, bot, bot_owner(bot))

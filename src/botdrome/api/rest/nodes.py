"""The nodes of a cluster over REST."""

from typing import Annotated

from msgspec import Meta, Struct

from botdrome.api.problems import Problem
from botdrome.api.rest.endpoint import ListPage, RestRequest
from botdrome.api.rest.operator_session import json_body, private
from botdrome.server.arena import Arena
from botdrome.server.nodes.node import Node
from botdrome.server.operator.operator import Operator


class NodeShown(Struct):
    name: str
    url: Annotated[str, Meta(description="Its own HTTP address; empty: it is starting.")]
    version: str
    draining: Annotated[bool, Meta(description="It takes no new matches.")]
    tables: Annotated[int, Meta(description="Running matches.")]
    connections: int
    waiting: Annotated[int, Meta(description="Its clients that wait for an opponent.")]
    cpu: Annotated[float, Meta(description="The share of a core that it uses.")]
    seconds: Annotated[int, Meta(description="The time since it joined.")]
    games: Annotated[list[str], Meta(description="The games whose rooms and contests it has.")]


class NodesShown(ListPage):
    nodes: Annotated[
        list[NodeShown],
        Meta(description="The live nodes by name; none: the server is no node of a cluster."),
    ]


class NodeState(Struct):
    draining: bool


async def nodes(arena: Arena, request: RestRequest) -> NodesShown:
    found = sorted(arena.nodes(), key=lambda node: node.name)
    shown = [_shown(node, arena.games_at(node)) for node in request.part(found)]
    return NodesShown(shown, **request.page(len(found)))


@private
async def changenode(operator: Operator, request: RestRequest) -> NodeState:
    wanted: NodeState = await json_body(request, NodeState)
    name = request.path("name")
    if not await operator.drain_node(name, wanted.draining):
        raise Problem(f"there is no node {name!r}", 404)
    return wanted


def _shown(node: Node, games: list[str]) -> NodeShown:
    load = node.load
    tables, connections, waiting, seconds = (
        int(load.get(key, 0)) for key in ("tables", "connections", "waiting", "seconds")
    )
    return NodeShown(
        node.name,
        node.url,
        node.version,
        node.draining,
        tables,
        connections,
        waiting,
        load.get("cpu", 0.0),
        seconds,
        games,
    )

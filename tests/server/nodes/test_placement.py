"""The node of a table."""

from collections import Counter

import pytest
from msgspec.structs import replace

from botdrome.server.nodes.shared_desk import ClientPlace, Placement
from tests.server.nodes.fixed_members import FixedMembers, node

FREE = {one: ClientPlace(f"{one}.1", f"{one}.1") for one in ("ant", "bee", "cat", "dog")}
TLS = {one: place._replace(fixed=True) for one, place in FREE.items()}
CARRIED = ClientPlace("ant.1", "bee.1", fixed=True)


def members(*changes: dict[str, object]) -> FixedMembers:
    """Ant, bee and cat on one machine, and dog on another."""
    changes += ({},) * (4 - len(changes))
    nodes = [
        replace(node(name), **{"handover": "/path"} | change)
        for name, change in zip(FREE, changes, strict=True)
    ]
    return FixedMembers(*nodes[:3], replace(nodes[3], machine="there"))


def tables(number: int) -> dict[str, object]:
    return {"load": {"tables": number}}


@pytest.mark.parametrize(
    ("clients", "changes", "chosen"),
    [
        ([FREE["bee"], FREE["bee"]], (), "bee"),
        ([FREE["bee"], FREE["cat"]], ({}, tables(1)), "cat"),
        ([FREE["bee"], FREE["bee"]], ({}, tables(1)), "ant"),  # both sockets are handed over
        (
            [FREE["bee"], FREE["bee"]],
            (tables(8), tables(9), tables(9)),
            "bee",
        ),  # about as many as the others
        ([FREE["bee"], FREE["bee"]], (tables(8), tables(10), tables(9)), "ant"),
        ([FREE["bee"], FREE["cat"]], ({}, tables(9), tables(5)), "ant"),
        ([FREE["bee"], FREE["cat"]], ({"handover": ""}, tables(9), tables(5)), "cat"),
        (
            [FREE["bee"], FREE["cat"]],
            ({"version": "2"}, tables(9), tables(5)),
            "ant",
        ),  # this node has version 2
        ([FREE["bee"], FREE["bee"]], ({"draining": True}, {"draining": True}), "cat"),
        ([FREE["dog"], FREE["dog"]], ({}, {}, {}, tables(9)), "dog"),  # they would be carried
        ([FREE["dog"], FREE["bee"]], ({}, tables(1), {}, tables(2)), "bee"),
        ([FREE["dog"], FREE["bee"]], ({}, tables(4), {}, tables(2)), "dog"),
        (
            [FREE["dog"], FREE["dog"]],
            ({}, {}, {}, {"draining": True}),
            "ant",
        ),  # this node takes its place
        ([TLS["bee"], TLS["bee"]], ({}, tables(9)), "bee"),
        ([TLS["bee"], FREE["ant"]], (tables(8), tables(9)), "bee"),
        ([TLS["bee"], FREE["ant"]], (tables(8), tables(10)), "ant"),
        ([CARRIED, CARRIED], (), "bee"),  # they are carried no more
        ([CARRIED, CARRIED], ({}, tables(1)), "ant"),
        ([FREE["bee"], None], (), "ant"),  # one cannot leave this node
        (
            [ClientPlace("bee.1", "eel.1"), FREE["bee"]],
            ({}, tables(9)),
            "bee",
        ),  # this node does not know eel
    ],
)
def test_the_node(
    clients: list[ClientPlace | None], changes: tuple[dict[str, object], ...], chosen: str
) -> None:
    assert Placement(members(*changes), lambda: 0.0).choose(clients) == f"{chosen}.1"


def test_a_node_of_another_version_gets_only_tables_of_its_own_clients() -> None:
    placement = Placement(members(tables(9), tables(9), {"version": "2"}), lambda: 0.0)
    assert placement.choose([FREE["bee"], FREE["bee"]]) == "bee.1"
    assert placement.choose([FREE["bee"], FREE["cat"]]) == "cat.1"


def test_tables_of_one_beat_spread() -> None:
    placement = Placement(members(tables(10), tables(20), tables(30)), lambda: 0.0)
    found = Counter(placement.choose([FREE["ant"], FREE["ant"]]) for _ in range(90))
    assert [10 + found["ant.1"], 20 + found["bee.1"], 30 + found["cat.1"]] == pytest.approx(
        [50, 50, 50], abs=7
    )


def test_beats_correct_the_estimate_slowly() -> None:
    known, seconds = members(), [0.0]
    placement = Placement(known, lambda: seconds[0])
    others = [one for one in known.nodes.values() if one is not known.here]
    for _ in range(8):
        placement.choose([TLS["ant"]])
    for passed, chosen in ((0.5, "bee"), (60.0, "ant")):
        seconds[0] += passed
        known.change(*others)  # all nodes tell that they have no table
        assert placement.choose([FREE["ant"]]) == f"{chosen}.1"

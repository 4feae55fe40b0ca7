"""The node of a table whose players are here."""

from collections import Counter

import pytest
from msgspec.structs import replace

from botdrome.server.nodes.shared_desk import ClientPlace, Placement
from tests.server.nodes.fixed_members import FixedMembers, node

NAMES = ("ant", "bee", "cat", "dog")
HERE, TLS = ClientPlace("ant.1"), ClientPlace("ant.1", fixed=True)
PIPED = {name: ClientPlace(f"{name}.1", fixed=True) for name in (*NAMES, "eel")}


def members(tables: tuple[int, ...] = (), **changes: dict[str, object]) -> FixedMembers:
    """Ant, which is here, bee and cat on one machine, and dog on another."""
    told = dict(zip(NAMES, (*tables, 0, 0, 0, 0), strict=False))
    nodes = [
        replace(
            node(name),
            **{"handover": "/path", "load": {"tables": told[name]}} | changes.get(name, {}),
        )
        for name in NAMES
    ]
    return FixedMembers(*nodes[:3], replace(nodes[3], machine="there"))


@pytest.mark.parametrize(
    ("clients", "tables", "changes", "chosen"),
    [
        ([HERE, HERE], (), {}, "ant"),
        ([HERE, HERE], (1,), {}, "bee"),
        ([HERE, HERE], (1, 1), {}, "cat"),
        ([HERE, HERE], (13, 8, 8), {}, "ant"),  # about as many as the others
        ([HERE, HERE], (14, 8, 9), {}, "bee"),
        ([HERE, HERE], (1,), {"bee": {"handover": ""}}, "cat"),
        ([HERE, HERE], (1,), {"bee": {"version": "2"}}, "cat"),
        ([HERE, HERE], (0, 9, 8), {"ant": {"draining": True}}, "cat"),
        ([TLS, TLS], (9,), {}, "ant"),  # they would be piped
        ([TLS, HERE], (9,), {}, "ant"),
        ([PIPED["bee"], HERE], (), {}, "bee"),  # it is piped no more
        ([PIPED["bee"], PIPED["bee"]], (), {}, "bee"),
        ([PIPED["bee"], PIPED["bee"]], (0, 1), {}, "ant"),
        ([PIPED["dog"], HERE], (), {}, "ant"),
        ([PIPED["dog"], HERE], (5, 0, 0, 2), {}, "dog"),
        ([PIPED["eel"], HERE], (9,), {}, "ant"),  # this node does not know eel
    ],
)
def test_the_node(
    clients: list[ClientPlace],
    tables: tuple[int, ...],
    changes: dict[str, dict[str, object]],
    chosen: str,
) -> None:
    placement = Placement(members(tables, **changes), lambda: (*tables, 0)[0], lambda: 0.0)
    assert placement.choose(clients) == f"{chosen}.1"


def test_tables_of_one_beat_spread() -> None:
    found = Counter({"ant.1": 10, "bee.1": 20, "cat.1": 30})
    placement = Placement(members((10, 20, 30)), lambda: found["ant.1"], lambda: 0.0)
    for _ in range(90):
        found[placement.choose([HERE, HERE])] += 1
    assert list(found.values()) == pytest.approx([50, 50, 50], abs=10)


def test_beats_correct_the_estimate_slowly() -> None:
    known, seconds = members(), [0.0]
    placement = Placement(known, lambda: 4, lambda: seconds[0])
    others = [one for one in known.nodes.values() if one is not known.here]
    found = Counter(placement.choose([HERE]) for _ in range(10))
    assert found == {"bee.1": 2, "cat.1": 2, "ant.1": 6}
    for passed, chosen in ((0.1, "ant"), (60.0, "bee")):
        seconds[0] += passed
        known.change(*others)  # all nodes tell that they have no table
        assert placement.choose([HERE]) == f"{chosen}.1"

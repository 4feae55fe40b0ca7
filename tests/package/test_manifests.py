"""The files for containers name settings that exist, and lead clients to the ports of the nodes."""

import re
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from botdrome.protocols import load_settings
from botdrome.server.rooms.boat_settings import BoatsSection
from botdrome.server.rooms.bomber_room import BomberSection
from botdrome.server.rooms.cube import CubeSection
from botdrome.server.rooms.duel import DuelSection
from botdrome.server.settings import ProtocolSection, Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
PROTOCOLS: dict[str, type[ProtocolSection]] = {
    "duel": DuelSection,
    "boats": BoatsSection,
    "bomber": BomberSection,
    "cube": CubeSection,
}
SECRETS = {
    "BOTDROME_DB": "postgresql://botdrome:SECRET@db/botdrome",
    "BOTDROME_NATS": "nats://TOKEN@nats",
}


def ports_of(settings: Settings) -> dict[str, int]:
    """The ports of the protocols, by the names of the manifests."""
    return {name: settings.of(section).port for name, section in PROTOCOLS.items()}


def test_the_nodes_of_the_compose_file_have_settings_that_exist() -> None:
    text = re.sub(r"\$\{(\w+):\?[^}]*\}", r"\1", (DEPLOY / "compose.yaml").read_text())
    services = yaml.safe_load(text)["services"]
    nodes = {name: one for name, one in services.items() if one["image"] == "botdrome"}
    settings = {name: load_settings({}, one["environment"]) for name, one in nodes.items()}
    assert {name: one.cluster.name for name, one in settings.items()} == {
        name: name for name in ("ant", "bee", "cat")
    }
    published = dict(port.split(":")[::-1] for port in services["balancer"]["ports"])
    for one in settings.values():
        assert one.db.startswith("postgresql://") and one.nats == "nats://NATS_TOKEN@nats"
        assert set(map(str, ports_of(one).values())) < published.keys()


def test_the_nodes_of_kubernetes_have_settings_that_exist_and_ports_that_services_find() -> None:
    found = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    (nodes,) = [one["spec"] for one in found if one["kind"] == "StatefulSet"]
    (container,) = nodes["template"]["spec"]["containers"]
    variables = {
        one["name"]: one.get("value", SECRETS.get(one["name"], "x")) for one in container["env"]
    }
    settings = load_settings({}, variables)
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert ports == {"http": settings.port} | ports_of(settings)
    services = [one["spec"] for one in found if one["kind"] == "Service"]
    ours = [one for one in services if one["selector"] == nodes["selector"]["matchLabels"]]
    assert {port["targetPort"] for one in ours for port in one["ports"]} == ports.keys()
    stopping = nodes["template"]["spec"]["terminationGracePeriodSeconds"]
    assert stopping > settings.drain + 20

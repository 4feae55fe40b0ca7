"""The image of a node installs what was locked, and nothing else."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIN = re.compile(
    r"^([a-z0-9.-]+)==(\S+)(?: ;[^\\\n]*)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE
)


def pins(lock: Path) -> dict[str, tuple[str, str]]:
    """The packages of a lock, with their versions and hashes."""
    return {name: (version, hashes) for name, version, hashes in PIN.findall(lock.read_text())}


def test_the_image_s_lock_is_a_part_of_the_whole_lock() -> None:
    image, whole = pins(ROOT / "deploy" / "requirements.lock"), pins(ROOT / "requirements.lock")
    assert image.items() <= whole.items(), "`make lock` writes both"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {re.split(r"[^a-z0-9-]", package)[0] for package in project["dependencies"]}
    assert wanted <= image.keys()
    assert not {"pytest", "mypy", "playwright"} & image.keys(), (
        "tools of developers have no place there"
    )


def test_the_image_s_final_stage_installs_only_by_hash_or_from_the_build() -> None:
    final = (
        (ROOT / "deploy" / "Containerfile")
        .read_text()
        .rpartition("\nFROM ")[2]
        .replace("\\\n", " ")
    )
    installs = re.findall(r"pip install ([^&\n]*)", final)
    assert len(installs) == 2
    for install in installs:
        assert "--no-deps" in install
        assert (
            "--require-hashes -r /wheels/requirements.lock" in install
            or "--no-index /wheels/*.whl" in install
        )

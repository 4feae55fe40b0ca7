"""Golden contests: archives written once, whose pairings and standings every later version must
compute again.
"""

from pathlib import Path

import pytest

from botdrome.store.contest_archive import check_archive

ARCHIVES = sorted((Path(__file__).parent / "contests").glob("*.zip"))


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_a_golden_contest_holds(archive: Path) -> None:
    manifest, contest = check_archive(archive)
    assert (manifest.name, manifest.state) == (archive.stem, "over")
    assert len(contest.results) >= 10

"""Seeds of matches on a server."""

from botdrome.contest.progress import commitment, match_seed


def test_seeds_depend_on_the_secret() -> None:
    assert match_seed("", 7) == 7
    seeds = {match_seed(secret, seed) for secret in ("one", "two") for seed in (7, 8)}
    assert len(seeds) == 4 and all(0 <= seed < 1 << 128 for seed in seeds)
    assert match_seed("one", 7) == match_seed("one", 7)


def test_a_secret_is_published_as_its_hash() -> None:
    assert commitment("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

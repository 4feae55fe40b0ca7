"""Links: every loss is reported on both sides, whatever is lost."""

from itertools import product

import pytest

from botdrome.wire import node_link as link
from botdrome.wire.node_link import HEAD, LAST, MOST, SILENCE, VERSION, NodeLink, OtherVersion

LARGEST = 1000


class Pair:
    """Two ends, and what each of them has seen."""

    def __init__(self) -> None:
        self.ends = NodeLink(0), NodeLink(0)
        self.seen: tuple[list[str], list[str]] = ([], [])
        self.exchange()

    def tell(self, end: int, *words: str) -> list[bytes]:
        """Return the frames of one turn."""
        for word in words:
            self.ends[end].add(word, b"")
        return self.ends[end].take(LARGEST)

    def carry(self, end: int, frames: list[bytes], now: float = 0) -> None:
        """To the other end."""
        for frame in frames:
            lost, messages = self.ends[1 - end].receive(frame, now)
            self.seen[1 - end].extend(["LOST"] * bool(lost) + [topic for topic, _ in messages])

    def exchange(self, now: float = 0) -> None:
        """Until both are quiet."""
        while frames := [self.ends[end].take(LARGEST) for end in (0, 1)]:
            if frames == [[], []]:
                break
            self.carry(0, frames[0], now)
            self.carry(1, frames[1], now)

    def tick(self, now: float = 0) -> None:
        assert [end.tick(now) for end in self.ends] == ["", ""]
        self.exchange(now)


def test_messages_come_in_order_and_all_of_a_turn_in_one_frame() -> None:
    pair = Pair()
    frames = pair.tell(0, "a", "b")
    assert len(frames) == 1
    pair.carry(0, frames)
    pair.carry(0, pair.tell(0, "c"))
    pair.tick()
    assert pair.seen == ([], ["a", "b", "c"])


def test_messages_wait_for_the_other_end() -> None:
    early, late = NodeLink(0), NodeLink(0)
    early.add("a", b"1")
    (greeting,) = early.take(LARGEST)
    assert early.take(LARGEST) == []
    late.receive(greeting, 0)
    early.receive(late.take(LARGEST)[0], 0)
    assert late.receive(early.take(LARGEST)[1], 0) == ("", [("a", b"1")])


@pytest.mark.parametrize(("gone", "twice"), list(product(range(3), (False, True))))
def test_a_lost_or_repeated_batch_is_reported_once_on_both_sides(gone: int, twice: bool) -> None:
    pair = Pair()
    frames = [pair.tell(0, str(number))[0] for number in range(3)]
    frames[gone : gone + 1] = [frames[gone]] * 2 * twice
    late = pair.tell(1, "late")
    pair.carry(0, frames)
    pair.tick()
    pair.carry(1, late)
    pair.exchange()
    assert pair.seen[0] == ["LOST"]
    assert pair.seen[1] == [str(number) for number in range(gone + twice)] + ["LOST"]
    pair.carry(0, pair.tell(0, "again"))
    pair.carry(1, pair.tell(1, "too"))
    assert (pair.seen[0][-1], pair.seen[1][-1]) == ("too", "again")


def test_a_loss_drops_what_waits() -> None:
    pair = Pair()
    assert pair.ends[0].lose("why") == "why"
    pair.ends[1].add("waits", b"")
    pair.exchange()
    assert pair.seen == ([], ["LOST"])


def test_a_large_message_is_cut() -> None:
    pair = Pair()
    pair.ends[0].add("large", bytes(3 * LARGEST))
    frames = pair.ends[0].take(LARGEST)
    assert [len(frame) for frame in frames[:-1]] == [LARGEST] * 3
    assert [pair.ends[1].receive(frame, 0)[1] for frame in frames] == [
        (),
        (),
        (),
        [("large", bytes(3 * LARGEST))],
    ]
    pair.ends[0].add("large", bytes(3 * LARGEST))
    pair.carry(0, pair.ends[0].take(LARGEST)[:2])
    pair.tick()
    pair.carry(0, pair.tell(0, "small"))
    assert pair.seen == (["LOST"], ["LOST", "small"])


def test_too_much_is_refused_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair()
    pair.ends[0].add("large", bytes(MOST))
    assert pair.ends[0].overfull
    monkeypatch.setattr(link, "MOST", 500)
    assert [pair.ends[1].receive(frame, 0)[0] for frame in pair.ends[0].take(LARGEST)[:2]] == [
        "",
        "a batch of more than 1000 bytes",
    ]


def test_silence_is_a_loss_where_something_hangs_on_the_link() -> None:
    pair = Pair()
    assert pair.ends[0].tick(SILENCE) == ""
    pair.ends[0].add("waits", b"")
    assert pair.ends[0].tick(2 * SILENCE) == "nothing was heard for 3.0 s"
    pair.exchange(2 * SILENCE)
    assert pair.seen == ([], ["LOST"])
    pair.carry(0, pair.tell(0, "again"))
    assert pair.seen == ([], ["LOST", "again"])


def test_nothing_is_sent_while_disconnected() -> None:
    pair = Pair()
    assert pair.ends[0].disconnect("NATS is away", 1) == "NATS is away"
    assert [len(frame) for frame in pair.tell(0, "a")] == [HEAD.size]


def test_frames_that_cannot_be_read() -> None:
    pair = Pair()
    for bad in (b"", b"\x02 and more"):
        with pytest.raises(OtherVersion):
            pair.ends[0].receive(bad, 0)
    assert pair.ends[0].receive(bytes([VERSION]), 0) == ("a frame of 1 bytes", ())
    assert (
        pair.ends[0]
        .receive(HEAD.pack(VERSION, LAST, 2, 1) + b"?", 0)[0]
        .startswith("a batch with a mistake: ")
    )

"""Boat trials of bots that come over TCP, with real sockets."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from queue import Queue

import pytest

from botdrome.offline import boat_tcp
from botdrome.offline.boat_tcp import TrialServer, tcp_runs
from botdrome.offline.boat_trial import BoardRun, Trial
from tests.offline.boat_bots import Sailor, boat_rows, sail
from tests.patience import PATIENCE


@contextmanager
def trial_server(positions: int) -> Iterator[tuple[int, "Queue[BoardRun]", Callable[[], None]]]:
    """Its port, the runs as they end, and a way to wait until it has closed."""
    trial, ports, ended = Trial("tcp", positions, 5, 8, 8), Queue[int](), Queue[BoardRun]()

    def run() -> None:
        with asyncio.Runner() as runner:
            opened = TrialServer(trial)
            server, port = runner.run(opened.open("127.0.0.1", 0))
            ports.put(port)
            with closing(tcp_runs(opened, runner, server, positions)) as coming:
                for run in coming:
                    if run is not None:
                        ended.put(run)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield ports.get(timeout=PATIENCE), ended, lambda: thread.join(PATIENCE)
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_bots_come_one_after_the_other_and_at_once() -> None:
    with trial_server(4) as (port, ended, _):
        one, shots = Sailor(port), sail(port, 8, 8)
        assert one.hear().startswith("G|1.2.0|boat trial|N|2|2|1|17|8|8|5|")
        run = ended.get(timeout=PATIENCE)
        assert (run.number, run.turns, run.fault) == (1, shots, "")
        one.close()
        others = [threading.Thread(target=sail, args=(port, 8, 8)) for _ in range(3)]
        for other in others:
            other.start()
        assert sorted(ended.get(timeout=PATIENCE).number for _ in others) == [0, 2, 3]
        for other in others:
            other.join(PATIENCE)


def test_a_bot_that_hangs_up_in_its_game_has_lost_that_board() -> None:
    with trial_server(2) as (port, ended, _):
        sailor = Sailor(port)
        sailor.say(f"J|walker|{boat_rows(8, 8)}")
        sailor.hear_until("N|walker")
        sailor.say("S|Skipper|1|1")
        sailor.hear_until("N|walker")
        sailor.close()
        assert (run := ended.get(timeout=PATIENCE)).fault == "it closed the connection"
        assert run.turns == 1
        sail(port, 8, 8)
        assert not ended.get(timeout=PATIENCE).fault


def test_lines_may_come_in_pieces_and_several_at_once() -> None:
    with trial_server(1) as (port, ended, _):
        sailor = Sailor(port)
        sailor.hear_until("G")
        for byte in b"P|hello\r\n":
            sailor.socket.sendall(bytes([byte]))
        assert sailor.hear() == "P|hello"
        shots = "".join(f"S|Skipper|{x}|{y}\n" for y in range(1, 9) for x in range(1, 9))
        sailor.socket.sendall(f"J|walker|{boat_rows(8, 8)}\n{shots}".encode())
        assert sailor.hear_until("R|walker").startswith("R|walker|17|0|")
        assert sailor.hear_until("R|Skipper").startswith("R|Skipper|0|")
        assert sailor.hear() == ""
        sailor.close()
        assert not ended.get(timeout=PATIENCE).fault


def test_who_comes_when_all_boards_are_given_out_is_told_so() -> None:
    with trial_server(1) as (port, ended, _):
        first = Sailor(port)
        first.hear_until("G")
        second = Sailor(port)
        assert second.hear() == "G|1.2.0|boat trial|N|2|2|2|17|8|8|5|A5|B4|C3|D3|E2", (
            "as a server greets"
        )
        assert second.hear() == "game is full"
        assert second.hear() == ""
        second.close()
        first.close()
        sail(port, 8, 8)
        assert ended.get(timeout=PATIENCE).number == 0, (
            "a board that nobody shot at is for the next"
        )


def test_rubbish_before_joining_costs_nothing_but_the_connection() -> None:
    with trial_server(1) as (port, ended, _):
        sailor = Sailor(port)
        sailor.hear_until("G")
        sailor.socket.sendall(b"\xff\xfe" * 3000 + b"\n")
        assert sailor.hear() == "protocol error"
        assert sailor.hear() == ""
        sailor.close()
        sail(port, 8, 8)
        assert not ended.get(timeout=PATIENCE).fault


def test_a_bot_that_falls_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boat_tcp, "PATIENCE", 0.2)
    with trial_server(1) as (port, ended, _):
        sailor = Sailor(port)
        sailor.say(f"J|walker|{boat_rows(8, 8)}")
        assert ended.get(timeout=PATIENCE).fault == "no line of it within 0.2 s"
        sailor.close()


def test_a_bot_that_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boat_tcp, "BACKLOG", 1000)
    with trial_server(1) as (port, ended, _):
        sailor = Sailor(port)
        sailor.say(f"J|walker|{boat_rows(8, 8)}")
        sailor.hear_until("N|walker")
        with pytest.raises(OSError):
            while True:
                sailor.socket.sendall(b"P|%b\n" % (b"x" * 4000) * 20)
        assert ended.get(timeout=PATIENCE).fault == "it reads too slowly"
        sailor.close()


def test_a_bot_that_does_not_hang_up_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boat_tcp, "LINGER", 0.2)
    with trial_server(1) as (port, ended, closed):
        sailor = Sailor(port)
        shots = "".join(f"S|Skipper|{x}|{y}\n" for y in range(1, 9) for x in range(1, 9))
        sailor.say(f"J|walker|{boat_rows(8, 8)}\n{shots}")
        assert not ended.get(timeout=PATIENCE).fault
        closed()
        with pytest.raises(OSError):
            for _ in range(100):
                sailor.socket.sendall(b"P|still here\n" * 100)
                sailor.socket.recv(1 << 16)
        sailor.close()


def test_a_port_that_is_taken_is_an_error() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        asyncio.Runner() as runner,
        pytest.raises(OSError),
    ):
        runner.run(TrialServer(Trial("tcp", 1, 1)).open("127.0.0.1", taken.getsockname()[1]))

"""Ctrl-C in the middle of work takes effect at the next wait."""

import signal

import pytest

from botdrome.cli.analysis.interrupts import Interrupts


def test_a_signal_takes_effect_where_the_command_waits() -> None:
    interrupts = Interrupts()
    with interrupts.allowed(), pytest.raises(KeyboardInterrupt):
        interrupts._note(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt), interrupts.allowed():
        pytest.fail("the signal came before")


def test_a_signal_does_not_interrupt_work() -> None:
    Interrupts()._note(signal.SIGTERM, None)

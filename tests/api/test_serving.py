"""Waiting for a condition: the loop sleeps meanwhile, so that other processes can work."""

import asyncio
import os

import pytest

from tests.api.serving import until

pytestmark = pytest.mark.anyio


async def test_the_loop_sleeps_while_nothing_happens() -> None:
    looks, heard = 0, list[bytes]()
    here, there = os.pipe()
    loop = asyncio.get_running_loop()

    def so() -> bool:
        nonlocal looks
        looks += 1
        return bool(heard)

    def hear() -> None:
        heard.append(os.read(here, 1))

    loop.add_reader(here, hear)
    loop.call_later(0.05, os.write, there, b"!")
    await until(so)
    loop.remove_reader(here)
    os.close(here)
    os.close(there)
    assert looks < 50


async def test_a_condition_that_cannot_be_looked_at_fails() -> None:
    looks: list[bool] = [False]
    with pytest.raises(IndexError):
        await until(looks.pop)

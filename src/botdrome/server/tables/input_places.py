"""The places where the inputs of running matches are kept, so that they outlive their node."""

from collections.abc import Callable
from typing import Protocol


class Rows(Protocol):
    async def write(self, number: int, data: bytes) -> None: ...

    async def delete_before(self, number: int) -> None: ...


class OtherMemory(Protocol):
    """The memory of another node."""

    acknowledge: Callable[[int], None]
    """Called when it has all batches up to a number."""

    @property
    def answers(self) -> bool:
        """Whether it acknowledges batches at present."""

    @property
    def full(self) -> bool:
        """Whether no more batches should be added before some are stored."""

    def keep(self, number: int, data: bytes) -> None:
        """Keep a batch until it is stored."""

    def stored(self, number: int) -> None:
        """The store has all batches up to this one."""

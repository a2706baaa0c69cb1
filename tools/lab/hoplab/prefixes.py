# SPDX-License-Identifier: GPL-2.0
"""As few routes as will do: prefixes that cover neighbouring subnets with the same next hops."""
import collections
import itertools
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
# The first of 2^bits addresses, bits, and what is there.
Route = tuple[int, int, T]


def aggregated(subnets: Sequence[Route[T]], bits: int) -> Iterator[Route[T]]:
    """
    Routes by which each of the subnets, sorted by address and below 2^bits, has what is there: one for
    all addresses, and more specific ones for what differs.
    """
    if not subnets:
        return
    most = collections.Counter(value for _, _, value in subnets).most_common(1)[0][0]
    yield 0, bits, most
    for value, run in itertools.groupby(subnets, lambda subnet: subnet[2]):
        if value != most:
            members = list(run)
            last, last_bits, _ = members[-1]
            for first, width in covered(members[0][0], last + (1 << last_bits)):
                yield first, width, value


def covered(first: int, end: int) -> Iterator[tuple[int, int]]:
    """The addresses from first to below end, in as few prefixes as there can be."""
    while first < end:
        room = (end - first).bit_length() - 1
        bits = min(room, (first & -first).bit_length() - 1) if first else room
        yield first, bits
        first += 1 << bits

"""How requests are spread over the values of a key: Zipf's law, and counts that are drawn from it. Pure.

The key of rank r gets a share of requests that is proportional to r ** -exponent. With exponent 1 and 10 000 keys the
first gets 10 % of all; with 0 all get the same.
Must hold: the shares of all ranks add up to 1; the same seed draws the same counts, so a simulation can be repeated.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from math import cos, exp, log, pi, sqrt

# So many terms are added up; the rest of the sum is an integral, exact to ten digits from there on.
_TERMS = 10_000
_MASK = (1 << 64) - 1
# Counts with a larger mean are drawn from the normal distribution.
_NORMAL = 30.0


@cache
def zipf_sum(keys: int, exponent: float) -> float:
    """The sum of r ** -exponent for the ranks 1 to `keys`."""
    terms = min(keys, _TERMS)
    found = sum(float(rank**-exponent) for rank in range(1, terms + 1))
    if keys <= terms:
        return found
    if exponent == 1:
        rest = log(keys / terms)
    else:
        rest = float(keys ** (1 - exponent) - terms ** (1 - exponent)) / (1 - exponent)
    # The trapezoidal rule, and its first correction.
    ends = float(keys**-exponent - terms**-exponent) / 2
    slopes = exponent * float(terms ** -(exponent + 1) - keys ** -(exponent + 1)) / 12
    return found + rest + ends + slopes


def zipf_share(rank: int, keys: int, exponent: float) -> float:
    """The share of requests that go to the key of this rank, from 1."""
    return float(rank**-exponent) / zipf_sum(keys, exponent)


def key_position(name: str) -> float:
    """Where a key lies in the range that partitions divide, from 0 to 1: a digest, as the service uses one."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64


def poisson_counts(seed: str) -> Callable[[float], int]:
    """A function that draws how many requests arrive in a second, of so many in the mean."""
    state = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")

    def uniform() -> float:
        # splitmix64: one multiplication after another is enough, and needs no module of chance.
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return ((mixed ^ (mixed >> 31)) >> 11) / 2**53

    def draw(mean: float) -> int:
        if mean <= 0:
            return 0
        if mean > _NORMAL:
            normal = sqrt(-2 * log(1 - uniform())) * cos(2 * pi * uniform())
            return max(0, round(mean + sqrt(mean) * normal))
        wanted, count = uniform(), 0
        probability = reached = exp(-mean)
        # Beyond this the sum of the probabilities no longer grows in a float.
        while wanted > reached and probability > 1e-17:
            count += 1
            probability *= mean / count
            reached += probability
        return count

    return draw

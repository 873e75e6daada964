"""Zipf's law and the counts drawn from it."""

import pytest

from tablewright.design.heat.popularity import key_position, poisson_counts, zipf_share, zipf_sum


@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0, 1.3])
@pytest.mark.parametrize("keys", [1, 100, 50_000])
def test_the_shares_of_all_ranks_add_up_to_one(keys: int, exponent: float) -> None:
    total = sum(zipf_share(rank, keys, exponent) for rank in range(1, keys + 1))
    assert total == pytest.approx(1, abs=1e-9)


def test_a_billion_keys_have_a_sum_too() -> None:
    # The harmonic number of 10^9: ln(10^9) and Euler's constant.
    assert zipf_sum(10**9, 1.0) == pytest.approx(20.7232658369 + 0.5772156649, abs=1e-6)


@pytest.mark.parametrize("mean", [0.5, 8.0, 400.0])
def test_counts_have_the_mean_and_the_variance_of_poisson(mean: float) -> None:
    draw = poisson_counts("a seed")
    counts = [draw(mean) for _ in range(20_000)]
    found = sum(counts) / len(counts)
    assert found == pytest.approx(mean, rel=0.03)
    assert sum((each - found) ** 2 for each in counts) / len(counts) == pytest.approx(mean, rel=0.06)


def test_a_seed_draws_the_same_counts_each_time() -> None:
    one, same, other = poisson_counts("a"), poisson_counts("a"), poisson_counts("b")
    counts = [[draw(20.0) for _ in range(50)] for draw in (one, same, other)]
    assert counts[0] == counts[1] != counts[2]


def test_keys_lie_everywhere_in_the_range() -> None:
    positions = [key_position(f"USER#{number}") for number in range(1000)]
    quarters = [sum(int(each * 4) == quarter for each in positions) for quarter in range(4)]
    assert min(quarters) > 200

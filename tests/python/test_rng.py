"""FastRng: xoshiro256++, its ranges, and its use by threads."""

import itertools
import threading
from collections import Counter

import pytest

from aerolane import FastRng

WORD = 2**64 - 1


def xoshiro(seed):
    """The generator as its authors describe it: xoshiro256++, its state filled by SplitMix64."""
    state = []
    for _ in range(4):
        seed = (seed + 0x9E3779B97F4A7C15) & WORD
        mixed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & WORD
        state.append(mixed ^ (mixed >> 31))

    def turned(word, by):
        return ((word << by) | (word >> (64 - by))) & WORD

    while True:
        a, b, c, d = state
        yield (turned((a + d) & WORD, 23) + a) & WORD
        shifted = (b << 17) & WORD
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        state = [a, b, c ^ shifted, turned(d, 45)]


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**63, 2**64 - 1])
def test_it_is_xoshiro(seed):
    words = list(itertools.islice(xoshiro(seed), 200))
    rng = FastRng(seed)
    assert [rng.next_u64() for _ in range(200)] == words
    rng = FastRng(seed)
    assert [rng.random() for _ in range(200)] == [(word >> 11) / 2**53 for word in words]


def test_a_number_below_is_the_upper_part_of_a_product():
    # With small bounds, the correction of the bias is next to never needed.
    words = xoshiro(7)
    rng = FastRng(7)
    assert [rng.gen_below(1000) for _ in range(1000)] == [word * 1000 >> 64 for word in itertools.islice(words, 1000)]


def test_ranges():
    rng = FastRng(3)
    assert {rng.gen_below(3) for _ in range(200)} == {0, 1, 2}
    assert {rng.randint(-2, 2) for _ in range(400)} == {-2, -1, 0, 1, 2}
    assert {rng.randrange(5, 8) for _ in range(200)} == {5, 6, 7}
    assert {rng.randrange(2) for _ in range(100)} == {0, 1}
    assert {rng.gen_below(1) for _ in range(9)} == {0}
    assert rng.randint(7, 7) == 7
    low, high = -(2**63), 2**63 - 1
    drawn = [rng.randint(low, high) for _ in range(1000)]
    assert min(drawn) < low // 2 and max(drawn) > high // 2
    drawn = [rng.gen_below(2**64 - 1) for _ in range(1000)]
    assert min(drawn) < 2**62 and max(drawn) > 2**63 + 2**62
    assert all(0 <= rng.random() < 1 for _ in range(1000))


def test_no_number_is_favoured():
    rng, bound = FastRng(11), 3 * 2**62
    # Half of the words beyond a multiple would fall on the lower third without the correction.
    counts = Counter(rng.gen_below(bound) // 2**62 for _ in range(30_000))
    assert set(counts) == {0, 1, 2}
    assert all(abs(count - 10_000) < 600 for count in counts.values()), counts


def test_empty_ranges_are_refused():
    rng = FastRng()
    for empty in (
        lambda: rng.gen_below(0),
        lambda: rng.randint(3, 2),
        lambda: rng.randrange(3, 3),
        lambda: rng.randrange(0),
        lambda: rng.randrange(-1),
    ):
        with pytest.raises(ValueError, match=r"is empty|at least 1"):
            empty()
    for wrong in (-1, 2**64):
        with pytest.raises(OverflowError):
            FastRng(wrong)
    with pytest.raises(TypeError):
        FastRng("seed")


def test_seeds():
    assert FastRng(5).next_u64() == FastRng(5).next_u64() != FastRng(6).next_u64()
    assert len({FastRng().next_u64() for _ in range(50)}) == 50


def test_threads_share_one():
    """Each number is given once, whoever asks."""
    rng, drawn = FastRng(9), [[] for _ in range(8)]
    barrier = threading.Barrier(8)

    def draw(mine):
        barrier.wait()
        mine.extend(rng.next_u64() for _ in range(2000))

    threads = [threading.Thread(target=draw, args=(mine,)) for mine in drawn]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(itertools.chain(*drawn)) == sorted(itertools.islice(xoshiro(9), 16_000))

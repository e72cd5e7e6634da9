"""How often the hashes of ids collide, compared with those of random numbers.

    python -m benchmarks.hashes [--count 10000000]

Ten million names of each family: no two of them may have the same 64 bits. Of the upper and of the lower 32 bits, about
as many may be the same as of random numbers: n - 2^32 (1 - exp(-n / 2^32)).
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator

import numpy as np

from gradely.data.hashing import FIXED_KEYS, PROCESS_KEYS, token_hashes
from gradely.data.ids import Tokens

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
KEYS = {"process": PROCESS_KEYS, "fixed": FIXED_KEYS}
PART = 500_000
"""names that are made in one go"""


def base62(number: int, width: int) -> str:
    """Return a number in base 62, with leading zeros."""
    return "".join(BASE62[number // 62**i % 62] for i in reversed(range(width)))


def as_uuid(number: int) -> str:
    """Return a mixed number in the form of a random UUID."""
    digits = f"{number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{digits[16:20]}-{digits[20:]}"


FAMILIES: dict[str, Callable[[int], str]] = {
    "base 62": lambda i: base62(i, 5),
    "base 62 after a word": lambda i: f"doc{base62(i, 5)}",
    "uuid": as_uuid,
    "zero-padded": lambda i: f"doc{i:08d}",
    "url": lambda i: f"https://www.example.org/shop/item?id={i}&page={i % 7}",
    "chunk": lambda i: f"doc_{i // 50:06d}_chunk_{i % 50:02d}",
}


def parts(family: Callable[[int], str], count: int) -> Iterator[Tokens]:
    """Yield names, some at a time."""
    for start in range(0, count, PART):
        yield Tokens.of(family(i).encode() for i in range(start, min(start + PART, count)))


def collisions(numbers: np.ndarray) -> int:
    """Return how many numbers equal an earlier one."""
    ordered = np.sort(numbers)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def main() -> None:
    """Print a table; fail if ids collide more often than random numbers would."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000_000)
    count = parser.parse_args().count
    expected = count + 2**32 * math.expm1(-count / 2**32)
    most = expected + 6 * math.sqrt(expected) + 6
    print(f"{count:,} names of each family; random numbers: 0 of 64 bits, {expected:,.0f} of 32 bits")
    for name, family in FAMILIES.items():
        hashed: dict[str, list[np.ndarray]] = {kind: [] for kind in KEYS}
        spent = 0.0
        for tokens in parts(family, count):
            begun = time.perf_counter()
            for kind, keys in KEYS.items():
                hashed[kind].append(token_hashes(tokens, keys))
            spent += (time.perf_counter() - begun) / len(KEYS)
        for kind, hashes in hashed.items():
            numbers = np.concatenate(hashes)
            same = [collisions(part) for part in (numbers, numbers >> np.uint64(32), numbers & np.uint64(2**32 - 1))]
            nanoseconds = f"{spent / count * 1e9:6.1f} ns each"
            print(f"{name:22} {kind:8} {same[0]:3} {same[1]:8,} {same[2]:8,}  {nanoseconds}", flush=True)
            if same[0] or max(same[1:]) > most:
                raise SystemExit(f"{name}: names collide more often than random numbers would")


if __name__ == "__main__":
    main()

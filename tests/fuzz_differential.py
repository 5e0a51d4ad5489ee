"""Turns a seed into many cases, counts how einrs and einops answer them, and keeps what differs.

    python tests/fuzz_differential.py --cases 200000 --seed 1 --framework numpy --save found
    python tests/fuzz_differential.py --cases 200000 --of joins --framework torch

`--of transforms` draws rearrange, reduce and repeat, `--of joins` einsum, pack, unpack, parse_shape
and asnumpy, `--of layers` the layers of torch. Each difference is appended to
DIR/FRAMEWORK-SEED.jsonl; a row put into a file of tests/data/replay is run by the tests from then
on. The exit status is 1 where anything differed.
"""

import argparse
import itertools
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import einrs
from differential import KINDS, check, stream
from layered import Layers
from tensors import FRAMEWORKS

SHOWN = 10


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=20_000, metavar="N")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--framework", choices=sorted(FRAMEWORKS), default="numpy")
    parser.add_argument("--of", choices=sorted(KINDS), default="transforms")
    parser.add_argument("--save", type=Path, metavar="DIR")
    return parser.parse_args(arguments)


def fuzz(options: argparse.Namespace) -> tuple[Counter[str], list[str]]:
    """The verdicts counted, and a row for every difference."""
    framework = FRAMEWORKS[options.framework]
    module = Layers(einrs) if options.of == "layers" else einrs
    counts: Counter[str] = Counter()
    rows = []
    cases = stream(options.seed, framework.menu, options.of)
    for case in itertools.islice(cases, options.cases):
        verdict = check(module, framework, case)
        counts[verdict.kind] += 1
        if verdict.differs:
            rows.append(verdict.row(framework, case))
    return counts, rows


def save(rows: list[str], options: argparse.Namespace) -> None:
    options.save.mkdir(parents=True, exist_ok=True)
    path = options.save / f"{options.framework}-{options.seed}.jsonl"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="ascii")
    print(f"{len(rows)} rows in {path}")


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    # einops warns of axis names that are keywords, numpy of empty means and of overflow.
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    counts, rows = fuzz(options)
    seconds = time.perf_counter() - start
    what = f"{options.cases} {options.of}, seed {options.seed}, {seconds:.0f} s"
    print(f"{options.framework}: {what}")
    for kind, count in counts.most_common():
        print(f"{count:>9}  {kind}")
    for row in rows[:SHOWN]:
        print(row)
    if rows and options.save:
        save(rows, options)
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main())

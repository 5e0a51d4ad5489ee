"""Turns torch's pooling layers into patterns and prints time and peak memory of both side by side.

Run it with `python examples/pooling.py [--size small|full]`. A pooling layer cuts an image in
windows and keeps one number of each. A pattern says just that: `(h 2) (w 2)` spells out h by w
windows of 2 x 2, and whatever the right side does not name is reduced away. Each function below is
one such layer, and `make_cases` pairs it with the layer of torch that it has to equal, in values
and in gradients.

What to expect: a pattern ends in torch's general reductions (`amax`, `mean`, ...) over split axes,
while torch's layers are kernels made for this one purpose, so the layers are faster in most rows.
`max_pool2d` also stores where each maximum was, an int64 per window, which a pattern does not.
"""

import argparse
import json
import os
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # read at import: keeps the profiler's log quiet

import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

import einrs

SHAPES = {"small": (2, 8, 16, 16), "full": (8, 64, 64, 64)}
ROUNDS = {"small": 5, "full": 15}
KIBIBYTE = 2**10


def max_pool(x):
    """The largest value of each window."""
    return einrs.reduce(x, "b c (h 2) (w 2) -> b c h w", "max")


def mean_pool(x):
    """The mean of each window."""
    return einrs.reduce(x, "b c (h 2) (w 2) -> b c h w", "mean")


def l2_pool(x):
    """The Euclidean length of each window: any callable of a tensor and axes can reduce."""
    return einrs.reduce(x, "b c (h 2) (w 2) -> b c h w", euclidean)


def euclidean(windows, axes):
    """The L2 norm over the given axes."""
    # torch.linalg.vector_norm saves the square's memory but takes 3.6 times as long (torch 2.15).
    return windows.square().sum(axes).sqrt()


def mixed_pool(x, share):
    """A learned share of the maximum and the rest of the mean, by one callable."""

    def mixed(windows, axes):
        return torch.lerp(windows.mean(axes), windows.amax(axes), share)

    return einrs.reduce(x, "b c (h 2) (w 2) -> b c h w", mixed)


def torch_mixed_pool(x, share):
    """The same by two of torch's layers."""
    return torch.lerp(functional.avg_pool2d(x, 2), functional.max_pool2d(x, 2), share)


def weighted_pool(x, weights):
    """A learned weight for each channel and place: the places are axes until the sum."""
    windows = einrs.rearrange(x, "b c (h i) (w j) -> b c h i w j", i=2, j=2)
    products = windows * einrs.rearrange(weights, "c i j -> c 1 i 1 j")
    return einrs.reduce(products, "b c h i w j -> b c h w", "sum")


def torch_weighted_pool(x, weights):
    """The same as a depthwise convolution."""
    return functional.conv2d(x, weights.unsqueeze(1), stride=2, groups=len(weights))


def grid_mean_pool(x):
    """The mean over whatever window gives a grid of 8 x 8: give the grid, leave out the window."""
    return einrs.reduce(x, "b c (h p) (w q) -> b c h w", "mean", h=8, w=8)


def grid_max_pool(x):
    """The maximum on the same grid."""
    return einrs.reduce(x, "b c (h p) (w q) -> b c h w", "max", h=8, w=8)


def global_mean_pool(x):
    """One number per channel: both image axes are gone."""
    return einrs.reduce(x, "b c h w -> b c", "mean")


def global_max_pool(x):
    """The maximum per channel."""
    return einrs.reduce(x, "b c h w -> b c", "max")


def channels_last_max_pool(x):
    """Windows of an image whose channels come last: only the order of the names changes."""
    return einrs.reduce(x, "b (h 2) (w 2) c -> b h w c", "max")


def torch_channels_last_max_pool(x):
    """Torch's layer wants channels second, so the axes go there and back."""
    return functional.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)


class Case(NamedTuple):
    """A pattern's function, torch's, its name in the table, and the learned parameters of both."""

    ours: Callable
    theirs: Callable
    layer: str
    exact: bool = False
    parameters: tuple = ()


def make_cases(channels):
    """Every pairing of the article, with parameters for this many channels."""
    share = torch.tensor(0.3, requires_grad=True)
    weights = torch.rand(channels, 2, 2, requires_grad=True)
    f = functional
    return [
        Case(max_pool, lambda x: f.max_pool2d(x, 2), "max_pool2d", exact=True),
        Case(mean_pool, lambda x: f.avg_pool2d(x, 2), "avg_pool2d"),
        Case(l2_pool, lambda x: f.lp_pool2d(x, 2.0, 2), "lp_pool2d"),
        Case(mixed_pool, torch_mixed_pool, "avg_ and max_pool2d", parameters=(share,)),
        Case(weighted_pool, torch_weighted_pool, "conv2d, depthwise", parameters=(weights,)),
        Case(grid_mean_pool, lambda x: f.adaptive_avg_pool2d(x, 8), "adaptive_avg_pool2d"),
        Case(
            grid_max_pool, lambda x: f.adaptive_max_pool2d(x, 8), "adaptive_max_pool2d", exact=True
        ),
        Case(
            global_mean_pool,
            lambda x: f.adaptive_avg_pool2d(x, 1).flatten(1),
            "adaptive_avg_pool2d",
        ),
        Case(
            global_max_pool,
            lambda x: f.adaptive_max_pool2d(x, 1).flatten(1),
            "adaptive_max_pool2d",
            exact=True,
        ),
        Case(
            channels_last_max_pool,
            torch_channels_last_max_pool,
            "max_pool2d, permuted",
            exact=True,
        ),
    ]


def make_input(shape):
    """A shuffled ramp: no value occurs twice, so every maximum and its gradient are unambiguous."""
    count = torch.Size(shape).numel()
    return (torch.randperm(count).reshape(shape) / count - 0.5).requires_grad_()


def train(function, x, case, upstream):
    """One forward and one backward pass; the gradients of the input and of the parameters."""
    result = function(x, *case.parameters)
    return torch.autograd.grad(result, (x, *case.parameters), upstream)


def check_equal(case, x):
    """Assert equal values (all bits where `exact`) and gradients; return the gradient it fed in."""
    ours, theirs = case.ours(x, *case.parameters), case.theirs(x, *case.parameters)
    tolerance = {"rtol": 0, "atol": 0} if case.exact else {"rtol": 1e-5, "atol": 1e-6}
    torch.testing.assert_close(ours, theirs, **tolerance)
    upstream = torch.rand_like(ours)
    for mine, other in zip(
        train(case.ours, x, case, upstream), train(case.theirs, x, case, upstream), strict=True
    ):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)
    return upstream


def fastest(functions, rounds, batch=0.005):
    """Milliseconds per call: the best of short batches, taken in turn so noise hits all alike."""
    timers = [timeit.Timer(function) for function in functions]
    counts = [max(1, int(batch / timer.timeit(1))) for timer in timers]
    laps = [
        [timer.timeit(n) / n for timer, n in zip(timers, counts, strict=True)]
        for _ in range(rounds)
    ]
    return [1e3 * min(column) for column in zip(*laps, strict=True)]


def peak_memory(function):
    """The most memory, in KiB, that one call held at once beyond its input; its output is counted.

    The profiler records each block that torch's CPU allocator hands out and takes back. Memory that
    a kernel takes by other means is not seen; on Linux the high-water mark of resident memory was
    within 170 KiB of this number in every row.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.json")
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            result = function()  # kept, so that the output is still held at the end
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    del result
    held = peak = 0
    for event in sorted((e for e in events if e["name"] == "[memory]"), key=lambda e: e["ts"]):
        held += event["args"]["Bytes"]
        peak = max(peak, held)
    return peak / KIBIBYTE


def measure(case, x, rounds):
    """Check one case; its ms forward, ms in training and peak KiB, each as (ours, theirs)."""
    upstream = check_equal(case, x)
    calls = [lambda f=f: f(x, *case.parameters) for f in (case.ours, case.theirs)]
    steps = [lambda f=f: train(f, x, case, upstream) for f in (case.ours, case.theirs)]
    with torch.no_grad():
        forward = fastest(calls, rounds)
        memory = [peak_memory(call) for call in calls]
    return forward, fastest(steps, rounds), memory


def print_table(rows):
    """Print the rows of (case, forward, training, memory) and einrs relative to torch in each."""
    titles = ("forward, ms", "forward + backward, ms", "forward, peak KiB")
    print(" " * 45 + "".join(f"{title:>25}  " for title in titles))
    print(f"{'einrs':<24}{'torch':<21}" + f"{'einrs':>9}{'torch':>9}{'ratio':>7}  " * 3)
    for case, *measured in rows:
        cells = "".join(
            f"{ours:>9.{digits}f}{theirs:>9.{digits}f}{ours / theirs:>6.2f}x  "
            for (ours, theirs), digits in zip(measured, (3, 3, 1), strict=True)
        )
        print(f"{case.ours.__name__:<24}{case.layer:<21}{cells}")


def print_limits(x):
    """Show what a pattern refuses and torch's adaptive layer does."""
    print(
        "\nA grid that does not divide the image is refused. torch's adaptive layer takes windows"
    )
    print(
        "of different sizes there, which no pattern can say; nor can it say overlap or padding:\n"
    )
    try:
        einrs.reduce(x, "b c (h p) (w q) -> b c h w", "mean", h=7, w=8)
    except einrs.EinopsError as error:
        print(error)
    else:
        raise AssertionError("a grid of 7 was accepted")


def main():
    """Check, measure and print every case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SHAPES, default="full", help="how large an input to pool")
    size = parser.parse_args().size
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x = make_input(SHAPES[size])

    print(f"Input {SHAPES[size]}, float32, {x.nbytes / KIBIBYTE:g} KiB, one thread.")
    print("Values and gradients are checked before anything is timed. A ratio above 1 means that")
    print("einrs is slower or takes more memory than torch's layer.\n")
    cases = make_cases(channels=x.shape[1])
    print_table([(case, *measure(case, x, ROUNDS[size])) for case in cases])
    print_limits(x)


if __name__ == "__main__":
    main()

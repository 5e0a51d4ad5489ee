"""Turns photographs that come with scikit-image into patches, pools, mosaics and one PNG.

Run it with `python examples/tour.py [--out tour.png]`. Every step prints its
pattern and its shapes; a speed table follows.
"""

import argparse
import timeit
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from skimage import data, img_as_float32

import einrs

try:
    import einops
except ImportError:
    einops = None

GAP = 6  # white pixels between the patches of the first panel
WRONG = "(h height) (w width) c -> h w (heigth width c)"

# name, the call, the same by hand. All on plain numpy arrays; see `speed_inputs` for the shapes.
SPEED_ROWS = [
    (
        "channels first (view)",
        'einrs.rearrange(photo, "h w c -> c h w")',
        "photo.transpose(2, 0, 1)",
    ),
    (
        "split heads (view)",
        'einrs.rearrange(tokens, "b n (h d) -> b h n d", h=4)',
        "tokens.reshape(*tokens.shape[:2], 4, -1).transpose(0, 2, 1, 3)",
    ),
    (
        "merge heads (copy)",
        'einrs.rearrange(heads, "b h n d -> b n (h d)")',
        "heads.transpose(0, 2, 1, 3).reshape(heads.shape[0], heads.shape[2], -1)",
    ),
    (
        "patches of a thumbnail",
        'einrs.rearrange(thumb, "(h a) (w b) c -> (h w) (a b c)", a=8, b=8)',
        (
            "thumb.reshape(-1, 8, thumb.shape[1] // 8, 8, thumb.shape[2])"
            ".transpose(0, 2, 1, 3, 4).reshape(-1, 64 * thumb.shape[2])"
        ),
    ),
    (
        "patches of the photo",
        'einrs.rearrange(photo, "(h a) (w b) c -> (h w) (a b c)", a=8, b=8)',
        (
            "photo.reshape(-1, 8, photo.shape[1] // 8, 8, photo.shape[2])"
            ".transpose(0, 2, 1, 3, 4).reshape(-1, 64 * photo.shape[2])"
        ),
    ),
    (
        "mean colour, thumbnail",
        'einrs.reduce(thumb, "h w c -> c", "mean")',
        "thumb.mean(axis=(0, 1))",
    ),
    (
        "max pool 2x2, thumbnail",
        'einrs.reduce(thumb, "(h 2) (w 2) c -> h w c", "max")',
        "thumb.reshape(-1, 2, thumb.shape[1] // 2, 2, thumb.shape[2]).max(axis=(1, 3))",
    ),
    (
        "enlarge 2x2, thumbnail",
        'einrs.repeat(thumb, "h w c -> (h 2) (w 2) c")',
        "thumb.repeat(2, axis=0).repeat(2, axis=1)",
    ),
]


def load_images():
    """An astronaut, a cameraman and 100 faces, as floats; all lie inside scikit-image's wheel."""
    images = data.astronaut(), data.camera(), data.lfw_subset()[:100]
    return [img_as_float32(image) for image in images]


def step(operation, tensor, pattern, *reduction, **lengths):
    """Apply one operation and print its line: name, pattern, shape in, shape out."""
    result = operation(tensor, pattern, *reduction, **lengths)
    shape = f"{len(tensor)} x {tensor[0].shape}" if isinstance(tensor, list) else tensor.shape
    given = "".join(f", {name}={value!r}" for name, value in lengths.items())
    call = f'"{pattern}"' + "".join(f', "{name}"' for name in reduction) + given
    print(f"{operation.__name__:<9} {call:<53} {shape!s:>17} -> {result.shape}")
    return result


def exploded_patches(photo):
    """Cut a photo in 8 x 8 patches and lay them out again with white lines between."""
    patches = step(einrs.rearrange, photo, "(h a) (w b) c -> h w a b c", h=8, w=8)
    framed = np.pad(patches, [(0, 0), (0, 0), (0, GAP), (0, GAP), (0, 0)], constant_values=1)
    sheet = step(einrs.rearrange, framed, "h w a b c -> (h a) (w b) c")
    return sheet[:-GAP, :-GAP]


def pools(grey):
    """The picture, then its mean, max and min over windows of 16 x 16, enlarged to the old size."""
    pooled = [
        step(einrs.reduce, grey, "(h 16) (w 16) -> h w", name) for name in ("mean", "max", "min")
    ]
    mean = step(einrs.repeat, pooled[0], "h w -> (h 16) (w 16)")
    brightest, darkest = (einrs.repeat(p, "h w -> (h 16) (w 16)") for p in pooled[1:])
    quartet = [grey, mean, brightest, darkest]
    return step(einrs.rearrange, quartet, "(i j) h w -> (i h) (j w)", i=2)


def colour_channels(photo):
    """The photo beside its red, green and blue part, each in its own colour."""
    spread = step(einrs.repeat, photo, "h w c -> c h w colour", colour=3)
    lamps = step(einrs.rearrange, np.eye(3, dtype="float32"), "c colour -> c 1 1 colour")
    return step(einrs.rearrange, [photo, *(spread * lamps)], "(i j) h w c -> (i h) (j w) c", i=2)


def mosaic(photo, faces):
    """The photo redrawn with faces: each window of 8 x 8 is a face in that window's mean colour."""
    colours = step(einrs.reduce, photo, "(h 8) (w 8) c -> h w c", "mean")
    tones = step(einrs.reduce, faces, "n h w -> n 1 1", "mean")
    chosen = np.random.default_rng(0).integers(len(faces), size=colours.shape[:2])
    windows = step(einrs.rearrange, colours, "h w c -> h 1 w 1 c")
    tiles = step(einrs.rearrange, (faces / tones)[chosen], "h w a b -> h a w b 1")
    sheet = step(einrs.rearrange, windows * tiles, "h a w b c -> (h a) (w b) c")
    return sheet.clip(0, 1)


def show_error(photo):
    """Print what a misspelt pattern says; running through without an error would be a bug."""
    try:
        einrs.rearrange(photo, WRONG, height=8, width=8)
    except einrs.EinopsError as error:
        print(error)
    else:
        raise AssertionError(f"{WRONG!r} was accepted")


def speed_inputs(photo):
    """The arrays that the statements of SPEED_ROWS name."""
    rng = np.random.default_rng(0)
    return {
        "photo": photo,
        "thumb": einrs.reduce(photo, "(h 16) (w 16) c -> h w c", "mean"),
        "tokens": rng.random((2, 16, 32), dtype=np.float32),
        "heads": rng.random((2, 4, 16, 8), dtype=np.float32),
    }


def fastest(timers, rounds=25, batch=0.004):
    """Seconds per call: the best of short batches, taken in turn so that noise hits all alike."""
    counts = [max(1, int(batch * 10 / timer.timeit(10))) for timer in timers]
    laps = [
        [timer.timeit(n) / n for timer, n in zip(timers, counts, strict=True)]
        for _ in range(rounds)
    ]
    return [min(column) for column in zip(*laps, strict=True)]


def measure_speed(photo):
    """Check and time every row of SPEED_ROWS; returns {row: {who: seconds per call}}."""
    inputs = speed_inputs(photo)
    libraries = {"einrs": einrs} | ({"einops": einops} if einops else {})
    table = {}
    for name, call, by_hand in SPEED_ROWS:
        np.testing.assert_allclose(
            eval(call, {"einrs": einrs, **inputs}), eval(by_hand, dict(inputs)), rtol=1e-5
        )
        timers = [
            timeit.Timer(call, globals={"einrs": library, **inputs})
            for library in libraries.values()
        ]
        timers.append(timeit.Timer(by_hand, globals=inputs))
        table[name] = dict(zip([*libraries, "by hand"], fastest(timers), strict=True))
    return table


def print_speed(table):
    """Print microseconds per call and what einrs takes relative to each other column."""
    columns = list(next(iter(table.values())))
    others = columns[1:]
    head = "".join(f"{name:>10}" for name in columns)
    print(f"{'us per call':<25}{head}" + "".join(f"{'/ ' + name:>11}" for name in others))
    for row, seconds in table.items():
        times = "".join(f"{seconds[name] * 1e6:>10.2f}" for name in columns)
        ratios = "".join(f"{seconds['einrs'] / seconds[name]:>10.2f}x" for name in others)
        print(f"{row:<25}{times}{ratios}")


def draw_speed(axes, table):
    """Bars from 1, the hand-written numpy: to the left is faster, to the right slower."""
    colours = {"einrs": "#c2410c", "einops": "#94a3b8"}
    names = [name for name in colours if name in next(iter(table.values()))]
    ratios = np.array([[row[name] / row["by hand"] for name in names] for row in table.values()])
    for offset, name in enumerate(names):
        places = np.arange(len(table)) + 0.3 * offset
        widths = ratios[:, offset] - 1
        bars = axes.barh(places, widths, 0.28, left=1, color=colours[name], label=name)
        axes.bar_label(bars, [f"{1 + width:.2f}" for width in widths], padding=3, fontsize=8)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    for place, row in enumerate(table):
        axes.text(1, place - 0.22, row, fontsize=8.5, ha="center", va="bottom", bbox=box)
    axes.axvline(1, color="black", linewidth=1, zorder=0.5)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(min(0.5, ratios.min()) / 1.6, max(2, ratios.max()) * 1.6)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set_yticks([])
    axes.legend(loc="lower right", fontsize=9)
    axes.spines[["top", "right", "left"]].set_visible(False)


def draw(panels, table, path):
    """Save the pictures and the bars as one PNG with a titled panel each."""
    figure = Figure(figsize=(14, 9.7), layout="constrained")
    grid = figure.subplots(2, 3).flat
    for axes, (title, picture) in zip(grid, panels.items(), strict=False):
        axes.imshow(picture, cmap="gray", vmin=0, vmax=1)
        axes.set_title(title, fontsize=11)
        axes.set_axis_off()
    draw_speed(grid[-1], table)
    grid[-1].set_title(
        "time per call / hand-written numpy\nleft of the line is faster", fontsize=11
    )
    figure.savefig(path, dpi=150)


def main():
    """Walk through the steps, print them and save the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("tour.png"), help="where the PNG goes")
    path = parser.parse_args().out
    photo, grey, faces = load_images()

    print("Every step is one pattern; lengths that can be worked out need not be given.\n")
    panels = {
        "patches\n(h a) (w b) c -> h w a b c": exploded_patches(photo),
        "picture, mean, max and min pool\n(h 16) (w 16) -> h w": pools(grey),
        "channels, each in its colour\nh w c -> c h w colour": colour_channels(photo),
        "100 faces, tiled\n(i j) h w -> (i h) (j w)": step(
            einrs.rearrange, faces, "(i j) h w -> (i h) (j w)", i=10
        ),
        "the photo redrawn with the faces\nh a w b c -> (h a) (w b) c": mosaic(photo, faces),
    }

    print("\nA misspelt name is an error that says where:\n")
    show_error(photo)

    print("\nSpeed, interleaved in one process, best batch of each:\n")
    table = measure_speed(photo)
    print_speed(table)
    draw(panels, table, path)
    print(f"\nsaved {path}")


if __name__ == "__main__":
    main()

"""Runs the programs of examples/ as a reader would and checks what they print and save."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run_example(name, *arguments, cwd):
    """Run one example in a fresh interpreter and return what it printed."""
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    """The folder and the printed text of one run of the tour."""
    pytest.importorskip("skimage", reason="the tour's images come with scikit-image")
    pytest.importorskip("matplotlib", reason="the tour draws with matplotlib")
    folder = tmp_path_factory.mktemp("tour")
    return folder, run_example("tour.py", "--out", folder / "picture.png", cwd=folder)


def test_tour_saves_a_picture(tour):
    from matplotlib.image import imread

    folder, _ = tour
    picture = imread(folder / "picture.png")
    height, width, _ = picture.shape
    assert 1000 <= height <= 4000
    assert 1000 <= width <= 4000
    assert picture[..., :3].std() > 0.1, "the picture is nearly one flat colour"
    assert [path.name for path in folder.iterdir()] == ["picture.png"]


@pytest.mark.parametrize(
    "line",
    [
        'rearrange "(h a) (w b) c -> h w a b c", h=8, w=8 (512, 512, 3) -> (8, 8, 64, 64, 3)',
        'reduce "(h 16) (w 16) -> h w", "max" (512, 512) -> (32, 32)',
        'repeat "h w c -> c h w colour", colour=3 (512, 512, 3) -> (3, 512, 512, 3)',
        'rearrange "(i j) h w -> (i h) (j w)", i=2 4 x (512, 512) -> (1024, 1024)',
    ],
)
def test_tour_prints_its_steps(tour, line):
    _, printed = tour
    assert line in [" ".join(text.split()) for text in printed.splitlines()]


def test_tour_shows_an_error_with_carets(tour):
    _, printed = tour
    lines = printed.splitlines()
    carets = [at for at, line in enumerate(lines) if line.strip() and not line.strip("^ ")]
    assert len(carets) == 1, printed
    column = lines[carets[0] - 1].index("heigth")
    assert lines[carets[0]][column:].startswith("^^^^^^")


def test_tour_prints_a_ratio_for_every_row(tour):
    _, printed = tour
    rows = printed.split("by hand\n")[1].split("saved")[0].strip().splitlines()
    assert len(rows) >= 6
    for row in rows:
        assert float(row.split()[-1].removesuffix("x")) > 0, row


@pytest.mark.needs_torch
def test_pooling_equals_torch(tmp_path):
    printed = run_example("pooling.py", "--size", "small", cwd=tmp_path)
    rows = [line.split() for line in printed.splitlines() if "_pool " in line]
    names = {row[0] for row in rows}
    assert {"max_pool", "mean_pool", "l2_pool", "mixed_pool", "weighted_pool"} <= names
    assert {"grid_mean_pool", "global_max_pool", "channels_last_max_pool"} <= names
    for row in rows:
        assert sum(cell.endswith("x") for cell in row) == 3, row
    assert "can't divide axis of length 16 in chunks of 7" in printed
    assert not list(tmp_path.iterdir())

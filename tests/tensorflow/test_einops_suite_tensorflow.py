"""Runs einops' own installed tests of tensorflow with einrs answering to the name einops."""

from pathlib import Path

from einops_suite import runner


def test_the_suite_passes(tmp_path: Path) -> None:
    runner.check_tests(tmp_path, "tensorflow")

"""Turns rows of text into an aligned table for a terminal or a Markdown table for a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A title, a header and rows of text; columns from `right_from` on are aligned to the right."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    right_from: int = 1

    def plain(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        rule = ["-" * width for width in widths]
        lines = [self.header, rule, *self.rows]
        return "\n".join([self.title, *("  ".join(self._padded(line, widths)) for line in lines)])

    def markdown(self) -> str:
        rule = ["---:" if i >= self.right_from else "---" for i in range(len(self.header))]
        lines = [self.header, rule, *self.rows]
        return "\n".join([f"**{self.title}**", "", *(f"| {' | '.join(line)} |" for line in lines)])

    def _padded(self, line: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
        for i, (text, width) in enumerate(zip(line, widths, strict=True)):
            yield text.rjust(width) if i >= self.right_from else text.ljust(width)

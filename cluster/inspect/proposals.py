"""What models wrote: the proposals of a run, as its folder keeps them, one file a prompt.

Invariant: it only reads, one file at a time; a file that is being written is not seen yet. A row is what
`training.draft.Draft.row` made of it; files of older versions, which say less, are passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
FOLDER = "proposals"


def newest(run_folder: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """All proposals, those of the newest prompt first; of each the named columns or all."""
    import pyarrow as pa  # only here: it takes a while, and most commands need none
    import pyarrow.parquet as pq

    files = sorted((run_folder / FOLDER).glob("*.parquet"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files:
        try:
            yield from pq.read_table(path, columns=None if columns is None else list(columns)).to_pylist()
        except (pa.ArrowInvalid, KeyError):
            continue


def about(run_folder: Path, id: str) -> list[Row]:
    """The proposals of that id, or of a program with it: more than one where the same text was written again."""
    wanted = {row["proposal"] for row in newest(run_folder, ("proposal", "id")) if id in (row["proposal"], row["id"])}
    return [row for row in newest(run_folder) if row.get("proposal") in wanted] if wanted else []


def written_by(run_folder: Path) -> dict[str, tuple[int, int]]:
    """How many proposals each policy wrote that were judged, and how many of those were admitted."""
    written: Counter[str] = Counter()
    admitted: Counter[str] = Counter()
    for row in newest(run_folder, ("writer", "admitted")):
        written[row["writer"]] += 1
        admitted[row["writer"]] += row["admitted"]
    return {writer: (count, admitted[writer]) for writer, count in written.items()}

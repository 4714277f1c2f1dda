"""An evaluator that is any executable: a way to plug one in without writing Python."""
from __future__ import annotations

import math
import shlex
import subprocess
import tempfile
from collections.abc import Sequence

import numpy as np

from mtgender.data import number
from mtgender.producers.card import evaluator_card
from mtgender.study import InputError

COLUMNS = ["source_lang", "target_lang", "source_segment", "hypothesis_segment", "reference_segment"]


OUTPUT = 10_000_000     # bytes that a program may write in any case, beside a hundred for each it was given


def split_command(text: str) -> list[str]:
    """Return the words of a command line, as a shell would.

    Raises
    ------
    InputError
        No word, or a quote that does not close.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no command: {str(error).lower()}") from None
    if not words:
        raise InputError("which command?", hint='--model "./my_program --fast"')
    return words


def written_lines(command: Sequence[str], lines: Sequence[str], hint: str = "", env: dict[str, str] | None = None) -> list[str]:
    """Give `lines` to a program's stdin and return the lines that it writes.

    Raises
    ------
    InputError
        The program cannot be run, fails, writes without end, or writes something that is not UTF-8.
    """
    given, pieces, size = "".join(line + "\n" for line in lines).encode(), [], 0
    most = OUTPUT + 100 * len(given)
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said:      # a file, which a program need not read to its end
        asked.write(given)
        asked.seek(0)
        try:
            process = subprocess.Popen(command, stdin=asked, stdout=subprocess.PIPE, stderr=said, env=env)
        except OSError as error:
            raise InputError(f"{command[0]} cannot be run: {error.strerror}", hint=hint) from None
        with process:
            while piece := process.stdout.read1(1 << 16):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    process.kill()
                    raise InputError(f"{command[0]} wrote more than {most} bytes for {len(lines)} lines and was stopped")
        if process.returncode:
            said.seek(0)
            last = (said.read().decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            raise InputError(f"{command[0]} ended with status {process.returncode}: {last[:200]}")
    try:
        written = b"".join(pieces).decode()
    except UnicodeDecodeError:
        raise InputError(f"{command[0]} wrote something that is not UTF-8") from None
    return written.removesuffix("\n").split("\n") if written else []


class Command:
    """Runs a command that reads a TSV on stdin and writes one number a line.

    The TSV has a header line and the columns of `COLUMNS`, named as in WMT25 evaluation inputs; texts hold no TAB and no line end.

    Parameters
    ----------
    language : str
    model : str
        The command line.
    name : str, optional
        Name of the folder of scores.
    references : bool
        Whether the reference column is filled; it is empty otherwise.
    lower_is_better : bool
    batch_size : int
        Pairs handed over in one call; 0 means all at once.
    """

    def __init__(self, language: str, model: str = "", name: str = "", references: bool = False, lower_is_better: bool = False,
                 batch_size: int = 0) -> None:
        self.language, self.command, self.batch = language, split_command(model), batch_size or 1_000_000
        name = name or "command"
        self.card = evaluator_card(name, name, "an executable", [], "the command's own", True, "the command's own", "multilingual",
                                   f"Scores of the command {self.command[0].rpartition('/')[2]}.", model=model)
        self.card.update(higher_is_better=not lower_is_better, references=references)

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the command's number for each translation, shape (n,)."""
        if self.card["references"] and references is None:
            raise InputError("this run compares with a reference", hint="Give one with --references")
        rows = [COLUMNS, *(["en", self.language, s, t, r] for s, t, r in zip(sources, translations, references or [""] * len(sources)))]
        if any(mark in cell for row in rows for cell in row for mark in "\t\n\r"):
            raise InputError("a text holds a TAB or line end, which the command's input cannot carry")
        lines = written_lines(self.command, ["\t".join(row) for row in rows])
        if len(lines) != len(translations):
            raise InputError(f"{self.command[0]} wrote {len(lines)} lines for {len(translations)} translations",
                             hint="It reads a header line and then one row a translation, and writes one number a line")
        values = [number(line.strip()) for line in lines]
        wrong = next((i for i, value in enumerate(values) if value is None), None)
        if wrong is not None:
            raise InputError(f"{self.command[0]} wrote {lines[wrong][:60]!r} on line {wrong + 1}, expected a number")
        return np.array([math.nan if value is None else value for value in values])

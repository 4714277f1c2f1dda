"""ISCO-08: codes, titles and levels (1 major, 2 sub-major, 3 minor, 4 unit groups)."""

from __future__ import annotations

from functools import cache

import pandas as pd

from mtgender.study import ROOT, InputError, display_path

COUNTS = {1: 10, 2: 43, 3: 130, 4: 436}
PATH = ROOT / "data" / "isco08.csv"


@cache
def table(path=PATH):
    """The classification as a frame.

    Returns
    -------
    DataFrame
        619 rows; index `code` (text, as long as its level), columns `level` (1-4) and `title`.

    Raises
    ------
    InputError
        If the numbers of groups are not 10, 43, 130 and 436, or a code has no parent.

    Notes
    -----
    Source: International Labour Organization, ISCO-08.

    Examples
    --------
    >>> table().loc["7126", "title"]
    'Plumbers and pipe fitters'
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False).set_index("code")
    frame["level"] = frame["level"].astype(int)
    counts = frame["level"].value_counts().to_dict()
    if counts != COUNTS:
        raise InputError(f"groups per level {counts}, expected {COUNTS}", path=path)
    orphans = [c for c in frame.index if len(c) > 1 and c[:-1] not in frame.index]
    if orphans or any(len(c) != level for c, level in frame["level"].items()):
        raise InputError(f"codes without parent or of the wrong length: {orphans[:5]}", path=path)
    return frame


def unit_groups():
    """The 436 four-digit codes, sorted.

    Examples
    --------
    >>> len(unit_groups()), unit_groups()[0]
    (436, '0110')
    """
    frame = table()
    return sorted(frame.index[frame["level"] == 4])


def pad(code, **where):
    """A unit-group code with the leading zero that spreadsheets drop.

    Parameters
    ----------
    code : str
    **where
        `path`, `line`, `segment_id` for the error.

    Raises
    ------
    InputError
        If it is not one of the 436 unit groups.

    Examples
    --------
    >>> pad("110"), pad("7126")
    ('0110', '7126')
    """
    padded = code.zfill(4)
    if padded not in table().index or len(padded) != 4:
        raise InputError(f"{code!r} is no ISCO-08 unit group", **where, hint=f"The 436 codes are in {display_path(PATH)}")
    return padded


def title(code):
    """Title of a group of any level."""
    return table().loc[code, "title"]


def parent(codes, level):
    """The group of a level that each unit group belongs to.

    Parameters
    ----------
    codes : Series of str
    level : int
        1 to 4.
    """
    return codes.str[:level]

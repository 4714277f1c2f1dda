"""The papers' numbers: intervals of printed digits by hand, and the comparison of a study with them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy import stats

from mtgender import published, study


@pytest.fixture(scope="module")
def frame():
    return published.consistency().set_index("check")


def test_nothing_that_the_paper_states_differs(frame):
    assert set(frame["status"]) == {"agrees", "follows"} and (frame["status"] == "agrees").sum() >= 6
    assert ((frame["low"] <= frame["computed"] + 1e-9) & (frame["computed"] <= frame["high"] + 1e-9)).all()


def test_numbers_by_hand(frame):
    """The implied ranges of the issue, the threshold of 131 of 148, the coverage arithmetic, ties in whole pairs."""
    assert frame.loc["implied range of fluency2-gemini35-esa", "computed"] == approx(5.7234 / 0.1269)
    assert (frame.loc["implied range of fluency2-gemini35-esa", ["low", "high"]].astype(float).round(3) == [45.083, 45.120]).all()
    assert (frame.loc["implied range of COMETKiwi22", ["low", "high"]].astype(float).round(4) == [0.5636, 0.5692]).all()
    t = frame.loc["smallest significant |t| (BH)", "computed"]
    assert 2 * stats.t.sf(t, 435) == approx(131 / 148 * 0.05) and round(t, 3) == 2.018
    assert frame.loc["runs outside the panels", "computed"] == 148 - 22 * 6 - 13 == 3
    assert list(frame.loc["ties of gemba-poly", ["low", "high"]]) == [4847, 4853]
    assert frame.loc["preference balance of COMETKiwi22", "computed"] == approx(57.3)
    assert frame.loc["cancellation of Qwen 3.6", "computed"] == approx(1 - 4.06 / 7.34)


def test_a_statement_that_does_not_follow_differs(monkeypatch):
    paper = published.read()
    paper.loc["A030", "value"] = "6"
    monkeypatch.setattr(published, "read", lambda: paper)
    frame = published.consistency().set_index("check")
    assert frame.loc["significant runs", "status"] == frame.loc["named negative runs", "status"] == "differs"


@given(st.floats(-1000, 1000), st.integers(0, 5))
def test_a_number_agrees_with_itself_printed(value, decimals):
    assert published.agrees(float(f"{value:.{decimals}f}"), decimals, value)
    assert not published.agrees(float(f"{value:.{decimals}f}"), decimals, value + 1.1 * 10.0 ** -decimals)


@given(st.floats(0.1, 9), st.floats(0.1, 9), st.floats(0, 0.05), st.floats(0, 0.05))
def test_a_quotient_lies_in_its_interval(a, b, da, db):
    low, high = published.quotient((a - da, a + da), (b - db, b + db))
    for x in (a - da, a, a + da):
        for y in (b - db, b, b + db):
            assert low - 1e-9 <= x / y <= high + 1e-9


def test_a_study_beside_the_paper():
    """Every kind of printed number is found, or told missing."""
    languages = ["ar", "cs", "de", "is", "ru", "uk"]

    class Results:
        study = type("S", (), {"panel": languages})
        runs = pd.DataFrame({"label": ["Qwen 3.6", "COMETKiwi22"], "system": ["qwen", "COMETKiwi22"]})
        score_runs = pd.DataFrame([{"system": s, "language": c, "role": "metric", "signed": 0.1, "signed_pct": 2.094, "absolute_pct": 3.0,
                                    "masculine_win": 0.781, "feminine_win": 0.208, "tie": 0.0111, "significant": True}
                                   for s in ("qwen", "COMETKiwi22") for c in languages])
        score_summaries = pd.DataFrame([{"system": "qwen", "summary": "macro_panel", "signed": 0.1, "absolute": 0.2, "signed_pct": 4.0551,
                                         "absolute_pct": 7.3}])
        error_runs = pd.DataFrame([{"system": "x", "language": "ru", "difference": 1.0}])
        language_means = pd.DataFrame({"language": ["ru"], "signed_pct": [2.7249], "absolute_pct": [3.0], "n_systems": [13]})

    found = published.comparison(Results).set_index("id")
    assert dict(found["status"][["A040", "A041", "A055", "A046", "A048", "A036", "A053", "A050", "A028"]]) == {
        "A040": "agrees", "A041": "differs", "A055": "agrees", "A046": "agrees", "A048": "agrees", "A036": "missing", "A053": "agrees",
        "A050": "agrees", "A028": "differs"}
    assert found.loc["A028", "computed"] == 12 and np.isnan(found.loc["A036", "computed"])


def test_the_study_of_the_paper_names_its_systems():
    chosen = study.load("wmt26")
    paper = published.read()
    named = set(paper.loc[paper["quantity"].isin(["S", "A", "S_pct", "A_pct", "tie_rate", "significant_negative_run"]), "system"])
    assert named <= {s.label for s in chosen.scores.values()} and chosen.published
    assert not study.load("occupairs").published

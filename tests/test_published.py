"""The papers' numbers: intervals of printed digits by hand, and the comparison of a study with them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy import stats

from mtgender import published, representation, study, tables


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


# the systems paper

@pytest.fixture
def paper():
    return published.read(published.SYSTEMS)


@pytest.fixture(scope="module")
def systems():
    return published.systems_consistency().set_index("check")


def statuses(paper, **more):
    return published.systems_consistency(paper, **more).set_index("check")["status"]


def test_which_statements_of_the_systems_paper_differ(systems):
    assert set(systems.index[systems["status"] == "differs"]) == {
        "texts of a format", "nGPD of M2M100, FR", "nGPD of M2M100, EL", "not clear, M2M100, FR (%)", "nGPD of the other gender"}
    assert ((systems["low"] <= systems["computed"] + 1e-9) & (systems["computed"] <= systems["high"] + 1e-9)).all()
    assert systems["how"].str.len().gt(0).all() and np.isfinite(systems[["computed", "low", "high"]]).all().all()
    assert set(systems.loc[systems["published"] == "", "status"]) == {"follows"}


def test_pooled_shares_by_hand(systems):
    """Sums over the five rows of Tables 7 and 8 by hand; the interval from half a unit of each printed digit."""
    assert systems.loc["nGPD of M2M100, EL", "computed"] == approx((454.24 - 10.64) / (454.24 + 10.64))
    assert systems.loc["nGPD of M2M100, FR", "computed"] == approx((392.02 - 12.22) / (392.02 + 12.22))
    assert systems.loc["nGPD of Google Translate, FR", "computed"] == approx((416.76 - 16.87) / (416.76 + 16.87))
    low, high = systems.loc["nGPD of Google Translate, FR", ["low", "high"]]
    assert low == approx((416.735 - 16.895) / (416.735 + 16.895)) and high == approx((416.785 - 16.845) / (416.785 + 16.845))
    assert systems.loc["not clear, M2M100, FR (%)", "computed"] == approx((18.69 + 23.22 + 4.81 + 33.57 + 15.48) / 5)
    assert systems.loc["not clear, M2M100, FR (%)", "low"] == approx(19.154 - 0.005)
    assert systems.loc["not clear, Claude, FR (%)", "low"] == approx(13.118 - (4 * 0.005 + 0.05) / 5)       # one share has one decimal
    for language, others in (("FR", "NLLB, Google Translate"), ("EL", "Google Translate")):
        assert f"for M2M100, {others}" in systems.loc[f"nGPD of M2M100, {language}", "how"]
    assert "0.940 to 0.977" in systems.loc["nGPD of M2M100, EL", "how"]
    assert systems.loc["nGPD of NLLB, EL", "how"].endswith("read as 0.90 it would differ")
    assert systems.loc["nGPD of Claude, EL", "how"].endswith("read as 0.90 it would agree")


def test_numbers_of_texts_by_hand(systems):
    assert systems.loc["texts of all formats", ["published", "computed", "status"]].tolist() == ["9805", 1961 * 5, "agrees"]
    row = systems.loc["texts of a format"]
    assert (row["published"], row["computed"]) == ("5833", 1961) and 5833 % 3 and not 5883 % 3 and 5883 == 3 * 1961
    assert all(text in row["how"] for text in ("29,165", "9,805", "29,415", "5,883", "divisible by 3"))
    assert systems.loc["texts of an occupation", "computed"] == approx(22.489, abs=5e-4)
    # a row of 1,961 texts would be whole numbers: 92.01 % is between 1804 (91.99 %) and 1805 (92.05 %)
    assert systems.loc["rows of Tables 7 and 8 that can be counts of 1,961 texts", "computed"] == 0


def test_labour_figures_by_hand(systems):
    """Greece, group 11: 4.110 thousand men and 3.182 thousand women in 2022; 2.394 thousand men in 2014."""
    row = systems.loc["men among legislators, Greece 2022 (%)"]
    assert row["computed"] == approx(100 * 4.1 / 7.3) and "(56.4 before rounding)" in row["how"] and row["how"].endswith(": 11")
    assert round(systems.loc["persons in group 11, Greece 2014 (thousand)", "computed"], 1) == 2.6
    assert systems.loc["men in group 53, Greece (%)", "computed"] < 15


def test_table_9_and_the_bounds(systems):
    row = systems.loc["lists of Table 9 with ties in code order"]
    assert row["computed"] == 8 and f"{120 ** 4 * 2 * 6 * 12 * 6:.2g} ways" in row["how"]
    skipped = systems.loc["groups skipped by the lists of Table 9 that are ties alone", "how"]
    assert "Claude FR 0110 0210 0310 1111 1112 1114 1212;" in skipped and "Google Translate EL 0110 0210 0310 1112;" in skipped
    assert systems.loc["printed nGPD not below −1", "published"] == "59" and systems.loc["nGPD of the other gender", "computed"] == -1
    assert systems.loc["both accuracies, FR (%)", ["low", "high"]].tolist() == approx([99.925 + 98.295 - 100, 98.305])


@pytest.mark.parametrize("key, value, check", [
    ("B090", "0.91", "nGPD of Google Translate, FR"), ("B096", "0.8", "nGPD of Claude, EL"), ("B098", "10-13", "not clear, Claude, FR (%)"),
    ("B099", "<1", "not clear, Claude, EL (%)"), ("B118", "92.04", "rows of Table 7 that sum to 100"),
    ("B237", "12.35", "rows of Table 8 that sum to 100"), ("B083", "-0.91", "nGPD of Table 3: feminine = −masculine"),
    ("B080", "99.40", "both accuracies, EL (%)"), ("B078", "98.32", "both accuracies, FR (%)"), ("B006", "9800", "texts of all formats"),
    ("B007", "22.6", "texts of an occupation"), ("B104", "56.4", "men among legislators, Greece 2022 (%)"),
    ("B246", "-1.02", "printed nGPD not below −1"), ("B238", "1.3", "printed nGPD not above 1"),
    ("B247", "0.3", "lists of Table 9 with ties in code order"),
    ("B238", "0.4", "nGPD of 1111 Legislators, Google Translate, EL"), ("B243", "0.4", "feminine lists of Table 9 that reach 1")])
def test_a_tampered_number_differs(systems, paper, key, value, check):
    assert systems.loc[check, "status"] == "agrees"
    paper.loc[key, "value"] = value
    assert statuses(paper)[check] == "differs"


def test_ties_against_code_order_differ(paper):
    first, second = paper.loc["B239", "category"], paper.loc["B240", "category"]
    paper.loc[["B239", "B240"], "category"] = [second.replace("rank 3", "rank 2"), first.replace("rank 2", "rank 3")]
    row = published.systems_consistency(paper).set_index("check").loc["lists of Table 9 with ties in code order"]
    assert (row["computed"], row["status"]) == (7, "differs") and row["how"].endswith("; not Google Translate EL nGPD_masc")


def test_a_right_number_in_place_of_a_wrong_one_agrees(paper):
    paper.loc[["B008", "B082", "B083", "B084", "B085", "B098"], "value"] = ["1961", "0.94", "-0.94", "0.95", "-0.95", "10-20"]
    found = statuses(paper)
    assert list(found[found == "differs"].index) == ["nGPD of the other gender"]


def test_other_labour_figures_differ():
    labour = representation.read_labour()
    labour.loc[labour["isco08"] == "53", ["F", "M"]] = labour.loc[labour["isco08"] == "53", ["M", "F"]].to_numpy()
    labour.loc[(labour["isco08"] == "11") & (labour["year"] == 2022), "M"] += 0.1
    found = statuses(None, labour=labour)
    assert found["men in group 53, Greece (%)"] == found["men among legislators, Greece 2022 (%)"] == "differs"


shares = st.lists(st.tuples(st.floats(1, 99), st.floats(0.5, 30), st.floats(0, 0.3), st.floats(0, 0.3)), min_size=1, max_size=5)


@given(shares, st.randoms(use_true_random=False))
def test_pooled_ngpd_lies_in_its_interval(rows, random):
    low, high = published.pooled_ngpd([(m - d, m + d) for m, _, d, _ in rows], [(f - e, f + e) for _, f, _, e in rows])
    for _ in range(20):
        m = sum(m + random.uniform(-d, d) for m, _, d, _ in rows)
        f = sum(f + random.uniform(-e, e) for _, f, _, e in rows)
        assert low - 1e-9 <= representation.ngpd(m / (m + f), 0.5) <= high + 1e-9


def test_both_papers_in_one_table(systems, frame):
    both = published.papers()
    assert list(both.columns) == ["paper", *published.COLUMNS] and len(both) == len(systems) + len(frame)
    assert set(both.loc[both["paper"] == "systems", "check"]) == set(systems.index) and systems.index.is_unique
    shown = tables.published_consistency(both)
    assert list(shown.columns[:3]) == ["Paper", "Check", "Printed"] and "Paper" not in tables.published_consistency(frame.reset_index())


def test_a_study_beside_the_paper():
    """Every kind of printed number is found, or told missing."""
    languages = ["ar", "cs", "de", "is", "ru", "uk"]

    class Results:
        study = type("S", (), {"panel": languages})
        runs = pd.DataFrame({"label": ["Qwen 3.6", "COMETKiwi22", "fluency2-gemini35-esa"], "system": ["qwen", "COMETKiwi22", "fl"]})
        score_runs = pd.DataFrame([{"system": s, "language": c, "role": "metric", "signed": 0.1, "signed_pct": 2.094, "absolute_pct": 3.0,
                                    "masculine_win": 0.781, "feminine_win": 0.208, "tie": 0.0111, "significant": True}
                                   for s in ("qwen", "COMETKiwi22") for c in languages]
                                  + [{"system": "fl", "language": c, "role": "control", "signed": -0.1, "significant": flag}
                                     for c, flag in (("de", True), ("uk", False))])
        score_summaries = pd.DataFrame([{"system": "qwen", "summary": "macro_panel", "signed": 0.1, "absolute": 0.2, "signed_pct": 4.0551,
                                         "absolute_pct": 7.3}])
        error_runs = pd.DataFrame([{"system": "x", "language": "ru", "difference": 1.0}])
        language_means = pd.DataFrame({"language": ["ru"], "signed_pct": [2.7249], "absolute_pct": [3.0], "n_systems": [13]})

    found = published.comparison(Results).set_index("id")
    assert dict(found["status"][["A040", "A041", "A055", "A046", "A048", "A036", "A053", "A050", "A028"]]) == {
        "A040": "agrees", "A041": "differs", "A055": "agrees", "A046": "agrees", "A048": "agrees", "A036": "missing", "A053": "agrees",
        "A050": "agrees", "A028": "differs"}
    assert dict(found["status"][["A034", "A035", "A033"]]) == {"A034": "agrees", "A035": "differs", "A033": "missing"}    # significant, too
    assert found.loc["A028", "computed"] == 12 and np.isnan(found.loc["A036", "computed"])


def test_the_study_of_the_paper_names_its_systems():
    chosen = study.load("wmt26")
    paper = published.read()
    named = set(paper.loc[paper["quantity"].isin(["S", "A", "S_pct", "A_pct", "tie_rate", "significant_negative_run"]), "system"])
    assert named <= {s.label for s in chosen.scores.values()} and chosen.published
    assert not study.load("occupairs").published

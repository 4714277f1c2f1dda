"""System measures: shares and references by hand, roll-up as pooled counts, interval kinds, labour figures."""

import numpy as np
import pandas as pd
import pytest
from conftest import write
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy import stats

from mtgender import data, isco, study
from mtgender import representation as rp
from mtgender.study import ROOT, InputError

CODES = isco.unit_groups()
counts_of = st.lists(st.tuples(st.sampled_from(CODES), *[st.integers(0, 9)] * 4), min_size=1, max_size=40)


def frame(rows):
    return pd.DataFrame([(f"o{i}", *row) for i, row in enumerate(rows)], columns=["occupation", "isco", *rp.COUNTS])


# definitions

@given(st.floats(0, 1), st.floats(0.01, 0.99))
def test_identities(p, reference):
    """GPD of women mirrors that of men; at 0.5 nGPD is 2 p - 1; never below -1; the mirror with a real reference."""
    assert rp.gpd(1 - p, 1 - reference) == approx(-rp.gpd(p, reference), abs=1e-12)
    assert rp.ngpd(p, 0.5) == approx(2 * p - 1, abs=1e-12)
    assert -1 - 1e-12 <= rp.ngpd(p, reference) <= 1 / reference - 1 + 1e-9
    assert rp.ngpd(1 - p, 1 - reference) == approx(-rp.ngpd(p, reference) * reference / (1 - reference), abs=1e-9)


def test_one_run_by_hand():
    table = rp.groups(frame([("7126", 3, 1, 2, 1), ("7112", 5, 0, 0, 0), ("2221", 1, 9, 0, 0), ("2222", 0, 0, 4, 0)]), 1).set_index("group")
    assert list(table.loc["7", ["masculine", "feminine", "not_clear", "excluded"]]) == [8, 1, 2, 1]
    assert table.loc["7", "p_masculine"] == approx(8 / 9) and table.loc["7", "ngpd_masculine"] == approx(2 * 8 / 9 - 1)
    assert table.loc["7", "p_macro"] == approx((3 / 4 + 1) / 2) and table.loc["7", "unit_groups"] == 2
    assert table.loc["2", "p_masculine"] == approx(0.1) and table.loc["2", "unit_groups"] == 1          # 2222 has no gendered text
    assert table.loc["2", "p_macro"] == approx(0.1)


def test_groups_without_gendered_text_are_missing():
    table = rp.groups(frame([("7126", 0, 0, 5, 0)]), 4).iloc[0]
    assert np.isnan(table["p_masculine"]) and np.isnan(table["ngpd_masculine"]) and table["not_clear"] == 5 and table["unit_groups"] == 0
    assert rp.intervals(frame([("7126", 0, 0, 5, 0)]), 4).iloc[0]["interval"] == ""


@given(counts_of, st.integers(0, 3))
def test_roll_up_is_the_pooled_count_at_every_level(rows, level):
    data = frame(rows)
    lower, upper = rp.groups(data, level + 1), rp.groups(data, level)
    pooled = lower.assign(parent=isco.parent(lower["group"], level) if level else "").groupby("parent")[rp.COUNTS].sum()
    assert pooled.to_numpy().tolist() == upper[rp.COUNTS].to_numpy().tolist()
    assert upper["p_masculine"].to_numpy() == approx(rp.shares(pooled["masculine"], pooled["feminine"]), nan_ok=True)
    assert upper["ngpd_masculine"].to_numpy() == approx(-upper["ngpd_feminine"].to_numpy(), nan_ok=True)


# references

def test_above_two_digits_the_reference_is_the_mean_over_the_gendered_segments():
    data = frame([("7126", 3, 1, 5, 0), ("7212", 2, 0, 0, 0), ("7311", 1, 1, 0, 0)])
    references = pd.Series({"71": 0.9, "72": 0.6})
    row = rp.groups(data, 1, references).iloc[0]
    assert row["reference"] == approx((4 * 0.9 + 2 * 0.6) / 6) and row["without_reference"] == 2       # 73 has no figure
    assert row["p_masculine"] == approx(5 / 6) and row["ngpd_masculine"] == approx(5 / 6 / row["reference"] - 1)
    assert np.isnan(rp.groups(data, 2, references).set_index("group").loc["73", "ngpd_masculine"])
    zero = rp.groups(data, 2, pd.Series({"71": 0.0, "72": 0.6})).set_index("group")
    assert np.isnan(zero.loc["71", "ngpd_masculine"]) and zero.loc["71", "p_masculine"] == approx(0.75)
    assert np.isnan(rp.intervals(data, 2, pd.Series({"71": 0.0, "72": 0.6})).set_index("group").loc["71", "low"])


def test_the_mean_of_unit_groups_is_over_what_has_a_reference():
    rows = [("7126", 3, 1, 0, 0), ("7212", 1, 4, 0, 0), ("7311", 4, 0, 0, 0)]
    row = rp.groups(frame(rows), 1, pd.Series({"71": 0.9, "72": 0.6})).iloc[0]
    assert row["p_macro"] == approx((3 / 4 + 1 / 5) / 2) and row["p_masculine"] == approx(4 / 9)           # 73 has no figure
    assert (row["unit_groups"], row["without_reference"]) == (3, 4)
    none = rp.groups(frame(rows), 2, pd.Series({"71": 0.9})).set_index("group")
    assert np.isnan(none.loc["73", ["p_macro", "p_masculine"]].astype(float)).all() and none.loc["71", "p_macro"] == 0.75
    assert rp.groups(frame(rows), 1).iloc[0]["p_macro"] == approx((3 / 4 + 1 / 5 + 1) / 3)


def test_groups_against_the_figures_of_a_named_country():
    counts = frame([("7126", 3, 1, 0, 0)]).assign(source="A", system="S", language="de", subset="s")
    given_ = {"replicates": 50, "seed": 1, "confidence": 0.95}
    labour = rp.read_labour()
    other = rp.group_table(counts, labour, countries={"de": "FRA"}, **given_)
    assert set(other["reference_kind"]) == {"normative", "FRA"}
    assert other.loc[(other["reference_kind"] == "FRA") & (other["level"] == 2), "reference"].tolist() == approx(
        [rp.labour_shares(labour, "FRA").loc["71", "share"]])
    assert set(rp.group_table(counts, labour, **given_)["reference_kind"]) == {"normative", "DEU"}


def test_labour_shares_against_column_totals_and_suppressed_cells(tmp_path):
    path = write(tmp_path / "labour.csv", "country,isco08,year,sex,employed_thousands", "GRC,11,2013,M,3", "GRC,11,2013,F,1",
                 "GRC,11,2014,M,2.4", "GRC,11,2014,F,", "GRC,11,2015,M,5", "GRC,11,2015,F,1", "GRC,12,2014,M,2", "GRC,12,2014,F,",
                 "GRC,11,2030,M,99", "GRC,11,2030,F,0", "GRC,TOTAL,2013,M,9", "GRC,TOTAL,2013,F,9")
    found = rp.labour_shares(rp.read_labour(path), "GRC")
    assert found.loc["11", "share"] == approx(8 / 10) and found.loc["11", "years"] == 2 and "12" not in found.index    # 2014: F suppressed
    with pytest.raises(InputError, match="no labour figures for 'XYZ'"):
        rp.labour_shares(rp.read_labour(path), "XYZ")
    write(path, "country,isco08,year,sex,employed_thousands", "GRC,11,2013,M,1_0")
    with pytest.raises(InputError, match="'1_0' is not a number"):
        rp.read_labour(path)


def test_the_committed_labour_figures():
    labour = rp.read_labour()
    greece = rp.labour_shares(labour, "GRC", [2022])
    assert round(100 * greece.loc["11", "share"], 1) == 56.4 and round(100 * 4.1 / 7.3, 1) == 56.2     # the paper's, from one decimal
    for code in study.COUNTRIES.values():
        shares = rp.labour_shares(labour, code)
        assert 20 <= len(shares) <= 43 and shares["share"].between(0, 1).all(), code
    assert set(rp.labour_years("FRA")) == set(range(2013, 2023)) and set(rp.labour_years("DEU")) == set(range(2018, 2023))


# intervals

def test_eight_unit_groups_resample_occupations_seven_do_not():
    rows = [(code, int(m), 10 - int(m), 0, 0) for code, m in zip([c for c in CODES if c[0] == "7"][:8], [9, 1, 8, 10, 5, 7, 10, 2])]
    eight, seven = (rp.intervals(frame(rows[:n]), 1, seed=3).iloc[0] for n in (8, 7))
    assert (eight["interval"], seven["interval"]) == ("occupations", "texts")
    m = sum(r[1] for r in rows[:7])
    low, high = stats.beta.ppf([0.025, 0.975], m + 0.5, 70 - m + 0.5)
    assert [seven["low"], seven["high"]] == approx([2 * low - 1, 2 * high - 1])
    silent = [*rows[:7], (CODES[-1], 0, 0, 9, 0)]                                # an eighth group without gendered text does not count
    assert set(rp.intervals(frame(silent), 1)["interval"]) == {"texts", ""}


def test_a_run_whose_occupations_agree_says_so():
    """A bootstrap of blocks that agree has no width; that is no certainty."""
    def row(rows):
        counts = frame(rows).assign(source="A", system="S", language="de", subset="s")
        return rp.system_table(counts, replicates=50, seed=1, confidence=0.95).iloc[0]

    own = [c for c in CODES if c[0] == "7"][:8]
    flat = row([(code, 3, 0, 0, 0) for code in own])
    assert flat["low"] == flat["high"] == 1 and flat["interval"] == "occupations" and flat["note"] == rp.AGREE
    assert row([(code, 1, 1, 0, 0) for code in own])["note"] == rp.AGREE                                 # even in every one
    assert row([(code, 0, 2, 0, 0) for code in [*own, ""]])["note"] == f"1 occupation without an ISCO group; {rp.AGREE}"
    assert row([(code, 3, 0, 0, 0) for code in own[:7]])["note"] == ""                                   # Jeffreys keeps a width
    assert row([(own[0], 2, 1, 0, 0), *((code, 3, 0, 0, 0) for code in own[1:])])["note"] == ""
    assert row([(own[0], 0, 0, 3, 0)])["note"] == ""


def test_a_share_that_never_varies_is_told_where_only_the_reference_does():
    low, high = [1.2, 1.2], [1.6, 1.6]
    assert rp.agree([1.0, 0.9], low, high, ["occupations", "occupations"]).tolist() == [True, False]


def test_bootstrap_ratio_equals_the_loop_over_replicates():
    rng = np.random.default_rng(1)
    rows = [(code, *map(int, rng.integers(0, 9, 2)), 0, 0) for code in CODES[::40]]
    data = frame(rows)
    data = data[data["masculine"] + data["feminine"] > 0].reset_index(drop=True)
    found = rp.intervals(data, 0, replicates=300, seed=9).iloc[0]
    counts = rp.resample_counts(len(data), 300, 9)
    both = data["masculine"] + data["feminine"]
    drawn = [2 * np.repeat(data["masculine"], c.astype(int)).sum() / np.repeat(both, c.astype(int)).sum() - 1 for c in counts]
    assert [found["low"], found["high"]] == approx(list(np.quantile(drawn, [0.025, 0.975])))


@given(st.integers(0, 30), st.integers(1, 30))
def test_jeffreys_holds_the_share(successes, more):
    n = successes + more
    low, high = rp.jeffreys(successes, n)
    assert 0 <= low <= successes / n <= high <= 1
    assert rp.jeffreys(0, n)[0] == 0 and rp.jeffreys(n, n)[1] == 1


# the published counts

COUNTS = ROOT / "data" / "gender_counts"


def test_wibemt_comes_out_as_published():
    counts = data.read_counts(COUNTS / "wibemt.csv")
    table = rp.system_table(counts, replicates=200, seed=1, confidence=0.95).set_index("system")
    assert dict(table["ngpd_masculine"].round(3)) == {"DeepL": 0.815, "Google": 0.886, "Microsoft": 0.873}
    assert (table[["n_masculine", "n_feminine", "n_not_clear", "n_excluded"]].sum(axis=1) == 4158).all()
    assert (table["low"] < table["ngpd_masculine"]).all() and (table["ngpd_masculine"] < table["high"]).all()


def test_genderous_keeps_its_subsets_apart():
    counts = data.read_counts(COUNTS / "genderous.csv")
    sizes = counts.assign(n=counts[rp.COUNTS].sum(axis=1)).groupby(["system", "language", "subset"])["n"].sum().unstack()
    assert (sizes == [450, 30, 30]).all().all() and list(sizes.columns) == ["adjectives", "base", "their"] and len(sizes) == 16


@pytest.mark.parametrize("change, message", [
    (("7126", "126"), "no ISCO-08 unit group|'126'"), (("7126", "0127"), "no ISCO-08"), ((",5,", ",5.5,"), "not a count"),
    (("plumber", "baker"), "occurs twice"), ((",5,", ",5,5,"), "11 cells, expected 10"), (("isco", "code"), "header is")])
def test_bad_counts_are_refused(tmp_path, change, message):
    lines = ["source,system,language,subset,occupation,isco,masculine,feminine,not_clear,excluded", "X,s,de,a,plumber,7126,5,1,0,0",
             "X,s,de,a,baker,7512,3,3,0,0"]
    path = write(tmp_path / "counts.csv", *lines)
    assert len(data.read_counts(path)) == 2
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(InputError, match=message):
        data.read_counts(path)

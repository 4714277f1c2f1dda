"""Figures: what is written where, drawn once; what notebooks show; how the reading copies and the site take them over."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from mtgender import cli, data, figures, isco

FRAME = pd.DataFrame({"x": [1, 2]})


@pytest.fixture
def study(tmp_path):
    folders = {name: tmp_path / name for name in ("figures", "run_outputs", "results", "notebooks")}
    return SimpleNamespace(name="toy", title="A toy", **folders, reading=tmp_path / "docs" / "reading")


def line(slope=1.0, title="A line"):
    figures.style()
    figure, axis = plt.subplots(figsize=(4, 2))
    axis.plot([0, slope])
    axis.set_title(title)
    return figure


def test_a_figure_of_the_study_is_written_and_shown(study):
    figure = line()
    shown = figures.save(study, "a", figure, FRAME)
    files = {p.name: p for p in study.figures.iterdir()}
    assert set(files) == {"a.png", "a.svg", "a.csv"} and files["a.csv"].read_text() == "x\n1\n2\n"
    assert shown.data == files["a.png"].read_bytes() and shown.alt == "A line" and shown.width == 440       # 4 inches of 110
    assert plt.imread(files["a.png"]).shape[:2] == (400, 800)                    # 200 dots per inch in print
    assert shown.metadata["file"].endswith("figures/a.png") and not plt.fignum_exists(figure.number)


def test_a_figure_of_a_run_is_one_png(study):
    shown = figures.save(study, "a", line(), FRAME, run=True)
    assert {p.name for p in study.run_outputs.iterdir()} == {"a.png", "a.csv"} and not study.figures.exists()
    assert plt.imread(study.run_outputs / "a.png").shape[:2] == (280, 560) and not shown.metadata


def test_a_picture_that_looks_the_same_is_kept(study):
    figures.save(study, "a", line(), FRAME)
    kept = study.figures / "a.png"
    figure = line()
    figure.savefig(kept, dpi=figures.PRINT, pil_kwargs={"compress_level": 9})     # the same points, other bytes
    before = kept.read_bytes()
    figures.save(study, "a", line(), FRAME)
    assert kept.read_bytes() == before
    figures.save(study, "a", line(-1.0), FRAME)
    assert kept.read_bytes() != before
    (study.figures / "a.svg").unlink()
    figures.save(study, "a", line(-1.0), FRAME)
    assert (study.figures / "a.svg").is_file()


def test_the_alternative_text_of_a_figure_without_a_title():
    figure = line(title="")
    assert figures.picture(figure).alt == "figure"
    figure = line(title="")
    figure.set_label("What it shows")
    assert figures.picture(figure).alt == "What it shows"


def test_pages_link_to_a_kept_figure_and_hold_any_other(study):
    def output(image):
        content, shown = image._repr_mimebundle_()
        return nbformat.v4.new_output("execute_result", {"image/png": content["image/png"]}, metadata={"image/png": shown["image/png"]})

    first, last = figures.picture(line(title="First")), figures.picture(line(title="Last"))
    images = first, figures.save(study, "kept", line(title="Kept"), FRAME), last
    cells = [nbformat.v4.new_markdown_cell("# Toy"), *(nbformat.v4.new_code_cell("…", outputs=[output(i)]) for i in images)]
    path = study.notebooks / "metrics" / "1_toy.ipynb"
    data.replace(path, lambda p: nbformat.write(nbformat.v4.new_notebook(cells=cells), p))
    cli._reading_copy(study, [path])
    page = (study.reading / "metrics_1_toy.md").read_text()
    places = [page.index(f"![{text}]({file})") for text, file in (("First", "metrics_1_toy_1.png"), ("Kept", "../../figures/kept.png"),
                                                                  ("Last", "metrics_1_toy_2.png"))]
    assert places == sorted(places) and page.count("![") == 3
    assert {p.name for p in study.reading.iterdir()} == {"metrics_1_toy.md", "metrics_1_toy_1.png", "metrics_1_toy_2.png"}
    cli._site(study, [path])
    page = (study.results / "site" / "metrics_1_toy.html").read_text()
    assert "<title>metrics_1_toy</title>" in page and page.count('src="data:image/png;base64') == 3
    assert page.index('alt="First"') < page.index('alt="Kept"') < page.index('alt="Last"') and cli.NO_ALT not in page
    assert 'href="metrics_1_toy.html">Toy' in (study.results / "site" / "index.html").read_text()


@pytest.mark.parametrize("shape", ["even", "one far below", "one far above", "mostly equal"])
def test_names_of_occupations_cover_no_point_and_stay_inside(shape):
    means = np.linspace(-1.0, 3.0, 436)
    if shape == "mostly equal":
        means[20:-20] = 0.5
    means[0 if shape == "one far below" else -1] += {"one far below": -30, "one far above": 30}.get(shape, 0)
    figures.style()
    figure = figures.caterpillar(pd.Series(means, isco.unit_groups()), "A run")
    figure.canvas.draw()
    axis = figure.axes[0]
    points = axis.transData.transform(np.column_stack([np.sort(means), np.arange(436)]))
    boxes = [Text.get_window_extent(text) for text in axis.texts]
    assert len(boxes) == 16
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert not ((box.x0 < points[:, 0]) & (points[:, 0] < box.x1) & (box.y0 < points[:, 1]) & (points[:, 1] < box.y1)).any()
    plt.close(figure)


@pytest.mark.filterwarnings("error")
def test_a_figure_with_nothing_to_show_says_why():
    empty = pd.DataFrame(columns=["label", "role", "kind", "system", "language", "status", "isco", "macro", "signed_pct", "absolute_pct"])
    constant = pd.Series(float("nan"), index=["0110", "1111"])
    for figure, why in ((figures.caterpillar(constant, "x"), "a constant evaluator: there is no range"),
                        (figures.coverage(empty, ["de"]), "no evaluator or annotator in this study"),
                        (figures.majors(empty, "no metric"), "no metric of every language"),
                        (figures.error_free_differences(empty), "no annotator in this study"),
                        (figures.signed_against_absolute(empty, ["de"]), "no evaluator with a range in this study")):
        assert [t.get_text() for t in figure.axes[0].texts] == [why]
        plt.close(figure)


def test_headings_and_axis_labels_lie_in_the_figure():
    figures.style()
    rng, units = np.random.default_rng(1), isco.table().query("level == 4").index
    effects = pd.DataFrame({"isco": units, "macro": rng.normal(size=len(units))})
    panel = "fluency2-gemini35-esa, COMETKiwi22 and gemma3-forward"
    errors = pd.DataFrame({"system": "simplemma-oov", "language": ["de", "uk"], "difference": [1.0, 40.0], "low": [0.5, 30.0],
                           "high": [2.0, 45.0]})
    values = pd.DataFrame(rng.normal(size=(10, 8)), index=[f"{k} Plant and machine operators and assemblers" for k in range(10)],
                          columns=list("ABCDEFGH"))
    for figure in (figures.majors(effects, panel), figures.error_free_differences(errors),
                   figures.heat_map(values, f"S% by group, {panel}", "x")):
        figure.canvas.draw()
        axis, box = figure.axes[0], figure.bbox
        for text in (axis.title, axis._left_title, axis.xaxis.label, axis.yaxis.label):
            extent = text.get_window_extent()
            inside = box.x0 <= extent.x0 and extent.x1 <= box.x1 and box.y0 <= extent.y0 and extent.y1 <= box.y1
            assert inside or not text.get_text(), text
        plt.close(figure)

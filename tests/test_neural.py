"""COMET and MetricX adapters on tiny random checkpoints, which load as the real ones do (.venv-neural)."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml

from mtgender import data, producers
from mtgender.producers import run
from mtgender.study import InputError

comet = pytest.importorskip("comet", reason="unbabel-comet is not installed here (extra neural, ./run_tests.sh --all)")
torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

PAIRS = pd.DataFrame([[f"{code}-statement", f"The cook left the kitchen {code} times.", f"Der Koch verließ {code}mal die Küche.",
                       f"Die Köchin verließ {code}mal die Küche 🙂 {'sehr ' * (code - 1000)}spät."] for code in range(1000, 1006)],
                     columns=run.COLUMNS)
WIDTH, LENGTH = 16, 40


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A folder with a tokenizer and the configuration of a tiny XLM-R."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import XLMRobertaConfig, XLMRobertaTokenizerFast
    folder = tmp_path_factory.mktemp("encoder")
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator([t for c in ("source", "masculine", "feminine") for t in PAIRS[c]],
                                  trainers.UnigramTrainer(vocab_size=200, special_tokens=specials, unk_token="<unk>"))
    XLMRobertaTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    XLMRobertaConfig(vocab_size=tokenizer.get_vocab_size() + 5, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2,
                     intermediate_size=WIDTH, max_position_embeddings=LENGTH + 4, pad_token_id=1, bos_token_id=0,
                     eos_token_id=2).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def checkpoints(encoder, tmp_path_factory):
    """{class: checkpoint} of random weights, in the layout that unbabel-comet writes."""
    import pytorch_lightning
    from comet.models import str2model
    made = {}
    for name, more in (("referenceless_regression_metric", {"layer": "mix"}), ("regression_metric", {"layer": "mix"}),
                       ("xcomet_metric", {"sent_layer": "mix", "word_layer": 2})):
        torch.manual_seed(3)
        folder = tmp_path_factory.mktemp(name)
        model = str2model[name](encoder_model="XLM-RoBERTa", pretrained_model=str(encoder), layer_transformation="softmax",
                                hidden_sizes=[8, 4], load_pretrained_weights=False, local_files_only=True, **more)
        if name == "xcomet_metric":          # random weights mark nothing or everything; this marks some words
            torch.nn.init.normal_(model.hidden2tag.weight, std=3)
        (folder / "checkpoints").mkdir()
        torch.save({"state_dict": model.state_dict(), "hyper_parameters": dict(model.hparams),
                    "pytorch-lightning_version": pytorch_lightning.__version__}, folder / "checkpoints" / "model.ckpt")
        (folder / "hparams.yaml").write_text(yaml.safe_dump({"class_identifier": name}))
        made[name] = folder
    return made


def test_cometkiwi_scores_do_not_depend_on_order_and_the_card_tells_the_run(checkpoints, tmp_path):
    options = {"model": str(checkpoints["referenceless_regression_metric"]), "name": "kiwi", "batch_size": 4}
    made = producers.score_language("comet", "de", PAIRS, tmp_path, progress=False, options=options)
    scores = data.read_scores(made.path, PAIRS["segment_id"])
    evaluator = producers.EVALUATORS["comet"]("de", **options)
    alone = [evaluator.score([s], [t])[0] for s, t in zip(PAIRS["source"], PAIRS["feminine"])]
    np.testing.assert_allclose(scores["feminine"], alone, rtol=1e-4)
    assert len(set(alone)) == len(alone)
    card = yaml.safe_load((made.path.parent / "card.yaml").read_text())
    assert (card["device"], card["dtype"], card["batch_size"], card["max_length"]) == ("cpu", "float32", 4, LENGTH)
    assert card["references"] is False and card["class"] == "ReferencelessRegression"
    longer = [t for c in ("source", "masculine", "feminine") for t in PAIRS[c]
              if len(evaluator.comet.model.encoder.tokenizer(t)["input_ids"]) > LENGTH]
    assert card["truncated"] == {"de": len(longer)} and longer


def test_comet_with_references_is_reference_based(checkpoints, tmp_path):
    references = dict(zip(PAIRS["segment_id"], PAIRS["feminine"]))
    options = {"model": str(checkpoints["regression_metric"] / "checkpoints" / "model.ckpt")}
    made = producers.score_language("comet", "de", PAIRS, tmp_path, progress=False, options={**options, "references": True},
                                    references=references)
    assert yaml.safe_load((made.path.parent / "card.yaml").read_text())["references"] is True
    with pytest.raises(InputError, match="compares with a reference"):
        producers.score_language("comet", "de", PAIRS, tmp_path, progress=False, options=options)
    with pytest.raises(InputError, match="uses no reference"):
        producers.score_language("comet", "de", PAIRS, tmp_path, progress=False, references=references,
                                 options={"model": str(checkpoints["referenceless_regression_metric"]), "references": True})


def test_xcomet_gives_scores_and_spans_inside_the_texts(checkpoints, tmp_path):
    options = {"model": str(checkpoints["xcomet_metric"]), "batch_size": 4}
    producers.score_language("comet", "de", PAIRS, tmp_path / "scores", progress=False, options=options)
    references = dict(zip(PAIRS["segment_id"], PAIRS["feminine"]))
    with_references = producers.score_language("comet", "cs", PAIRS, tmp_path / "rb", progress=False, references=references,
                                               options={**options, "references": True})
    assert "\t" in with_references.path.read_text()
    made = producers.annotate_language("xcomet-spans", "de", PAIRS, tmp_path, progress=False, options=options)
    frame = data.read_annotations(made.path, PAIRS)
    texts = {(r["segment_id"], v): r[v] for r in PAIRS.to_dict("records") for v in ("masculine", "feminine")}
    assert frame["n_errors"].sum() > 0
    for row in frame.itertuples():
        for start, end, severity, _ in row.errors:
            span = texts[row.segment_id, row.variant][start:end]
            assert span == span.strip() and severity in ("minor", "major", "critical")
    evaluator = producers.ANNOTATORS["xcomet-spans"]("de", **options)
    alone = evaluator.annotate(list(PAIRS["source"][:1]), list(PAIRS["feminine"][:1]), "de")[0]["errors"]
    first = json.loads(made.path.read_text().splitlines()[1])
    assert [(e["start"], e["end"]) for e in alone] == [(e["start"], e["end"]) for e in first["errors"]]
    with pytest.raises(InputError, match="marks no error spans"):
        producers.annotate_language("xcomet-spans", "de", PAIRS, tmp_path, progress=False,
                                    options={"model": str(checkpoints["regression_metric"])})


@pytest.fixture(scope="module")
def metricx(encoder, tmp_path_factory):
    from transformers import AutoTokenizer, MT5Config, MT5ForConditionalGeneration
    folder = tmp_path_factory.mktemp("metricx")
    torch.manual_seed(5)
    model = MT5ForConditionalGeneration(MT5Config(vocab_size=250112, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_decoder_layers=1,
                                                  num_heads=2))
    model.lm_head.weight.data[250089] = 5 * torch.randn(8)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(encoder).save_pretrained(folder)
    return folder


def test_metricx_is_an_error_score_from_0_to_25(metricx, tmp_path):
    options = {"model": str(metricx), "batch_size": 4}
    made = producers.score_language("metricx", "de", PAIRS, tmp_path, progress=False, options=options)
    card = yaml.safe_load((made.path.parent / "card.yaml").read_text())
    assert card["higher_is_better"] is False and card["max_length"] == 1536 and card["truncated"] == {"de": 0}
    native = data.read_tsv(made.path, ["segment_id", "masculine", "feminine"])["masculine"].astype(float)
    assert native.between(0, 25).all()
    oriented = data.read_scores(made.path, PAIRS["segment_id"], higher_is_better=card["higher_is_better"])
    np.testing.assert_allclose(oriented["masculine"], -native)
    evaluator = producers.EVALUATORS["metricx"]("de", **options)
    alone = [evaluator.score([s], [t])[0] for s, t in zip(PAIRS["source"], PAIRS["masculine"])]
    np.testing.assert_allclose(native, alone, rtol=1e-4, atol=1e-5)
    with_reference = producers.EVALUATORS["metricx"]("de", **options, references=True)
    assert with_reference.score(*(list(PAIRS[c][:2]) for c in run.COLUMNS[1:])).shape == (2,)
    with pytest.raises(InputError, match="compares with a reference"):
        with_reference.score(["a"], ["b"])


def test_models_that_are_not_there_are_refused_in_one_line(tmp_path, checkpoints):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.ckpt").write_bytes(b"not a checkpoint")
    for name, model, message in (("comet", "", "which COMET model"), ("comet", "no-such-file.ckpt", "no checkpoint"),
                                 ("comet", str(tmp_path), "cannot load"), ("metricx", str(tmp_path), "cannot be loaded"),
                                 ("metricx", "", "which MetricX model")):
        with pytest.raises(InputError, match=message):
            producers.EVALUATORS[name]("de", model=model)
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no GPU"):
            producers.EVALUATORS["comet"]("de", model=str(checkpoints["regression_metric"]), gpu=True)

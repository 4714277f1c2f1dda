"""The field's own neural metrics: COMET models (unbabel-comet) and MetricX (transformers), from a local checkpoint or the hub.

They live in an environment of their own (requirements-neural.lock), since unbabel-comet holds numpy < 2.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtgender.producers.card import annotator_card, evaluator_card
from mtgender.study import InputError

METRICX_TOKEN = 250089      # the entry of mT5's vocabulary whose logit MetricX was trained to give as the score
METRICX_LENGTH = 1536
METRICX_RANGE = (0.0, 25.0)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]


def checkpoint(model: str) -> Path:
    """Return the checkpoint file of a COMET model: a file, a folder that holds `checkpoints/*.ckpt`, or a name on the hub.

    Raises
    ------
    InputError
        Nothing of the kind, or the hub cannot be reached.
    """
    path = Path(model)
    if path.is_file():
        return path
    if path.is_dir():
        found = sorted(path.rglob("*.ckpt"))
        if len(found) != 1:
            raise InputError(f"{len(found)} checkpoints (*.ckpt) in the folder, expected one", path=path)
        return found[0]
    if "/" not in model or model.startswith((".", "/")):
        raise InputError(f"no checkpoint {model}", hint="Give a .ckpt file, a folder that holds one, or a name on the hub such as "
                                                        "Unbabel/wmt22-cometkiwi-da")
    from comet import download_model

    try:
        return Path(download_model(model))
    except Exception as error:      # whatever the hub's client raises: no network, no licence accepted, no such model
        raise InputError(f"{model} could not be fetched from the hub ({type(error).__name__}: {_first_line(error)})",
                         hint="Accept the model's licence on the hub and log in, or give the path of a downloaded checkpoint") from None


class CometModel:
    """A COMET checkpoint and what a card says of it."""

    def __init__(self, model: str, gpu: bool, batch: int, references: bool) -> None:
        import torch
        from comet import load_from_checkpoint

        if gpu and not torch.cuda.is_available():
            raise InputError("there is no GPU here", hint="Leave --gpu out")
        path = checkpoint(model)
        try:
            self.model = load_from_checkpoint(str(path))
        except Exception as error:
            raise InputError(f"unbabel-comet cannot load it ({type(error).__name__}: {_first_line(error)})",
                             path=path) from None
        self.gpus, self.batch = int(gpu), batch
        required = bool(self.model.requires_references())
        if references and not required and "ref" not in getattr(self.model.hparams, "input_segments", []):
            raise InputError(f"{path.name} is a model that uses no reference", hint="Leave --references out")
        self.references = required or references
        self.limit = self.model.encoder.max_positions - 2      # what unbabel-comet cuts a text to
        self.facts = {"model": model if not Path(model).exists() else Path(model).name, "class": type(self.model).__name__,
                      "device": "cuda" if gpu else "cpu", "dtype": str(next(self.model.parameters()).dtype).removeprefix("torch."),
                      "batch_size": batch, "max_length": self.limit}

    def predict(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None) -> Any:
        """Return COMET's prediction."""
        rows = [{"src": s, "mt": t} for s, t in zip(sources, translations)]
        if self.references:
            rows = [{**row, "ref": r} for row, r in zip(rows, references or [])]
        return self.model.predict(rows, batch_size=self.batch, gpus=self.gpus, progress_bar=False, num_workers=0,
                                  accelerator="cuda" if self.gpus else "cpu")


    def truncated(self, texts: Sequence[str]) -> int:
        """How many of these texts are longer than the model reads."""
        return sum(len(ids) > self.limit for ids in self.model.encoder.tokenizer(list(texts))["input_ids"])


class Comet:
    """A COMET metric: COMETKiwi, COMET-22, the scores of xCOMET.

    Parameters
    ----------
    language : str
    model : str
        Checkpoint file, folder with one, or name on the hub.
    name : str, optional
        Name of the folder of scores; "comet" if not given.
    gpu : bool
    batch_size : int
    references : bool
        Use a reference where the model can do without one (xCOMET).
    """

    def __init__(self, language: str, model: str = "", name: str = "", gpu: bool = False, batch_size: int = 16,
                 references: bool = False) -> None:
        if not model:
            raise InputError("which COMET model?", hint="--model Unbabel/wmt22-cometkiwi-da, or the path of a checkpoint")
        self.comet, self.batch = CometModel(model, gpu, batch_size, references), 4 * batch_size
        name = name or "comet"
        self.card = evaluator_card(
            name, name, f"{self.comet.facts['model']}, unbabel-comet {{unbabel-comet}}", ["unbabel-comet", "torch", "transformers"],
            "code Apache-2.0; see the model's own licence", True, "as the model was trained", "multilingual",
            f"The COMET model {self.comet.facts['model']}.", **self.comet.facts)
        self.card["references"] = self.comet.references

    def truncated(self, texts: Sequence[str]) -> int:
        """How many of these texts are longer than the model reads."""
        return self.comet.truncated(texts)

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return COMET's score of each translation, shape (n,)."""
        return np.asarray(self.comet.predict(sources, translations, references).scores, dtype=float)


class XCometSpans:
    """The error spans of an xCOMET model; parameters as in `Comet`."""

    def __init__(self, language: str, model: str = "", name: str = "", gpu: bool = False, batch_size: int = 16) -> None:
        if not model:
            raise InputError("which xCOMET model?", hint="--model Unbabel/XCOMET-XL, or the path of a checkpoint")
        self.comet, self.batch = CometModel(model, gpu, batch_size, False), 4 * batch_size
        if not getattr(self.comet.model, "word_level", False):
            raise InputError(f"{model} marks no error spans", hint="xCOMET models do")
        name = name or "xcomet-spans"
        self.card = annotator_card(
            name, name, f"{self.comet.facts['model']}, unbabel-comet {{unbabel-comet}}", ["unbabel-comet", "torch", "transformers"],
            "code Apache-2.0; see the model's own licence", ["multilingual"],
            f"Error spans of the COMET model {self.comet.facts['model']}; it never reports an omission.", **self.comet.facts)
        self.card["reads_source"] = True

    def truncated(self, texts: Sequence[str]) -> int:
        """How many of these texts are longer than the model reads."""
        return self.comet.truncated(texts)

    def annotate(self, sources: Sequence[str], translations: Sequence[str], language: str) -> list[dict[str, Any]]:
        """Return one annotation per translation; see `mtgender.producers.Annotator`."""
        spans = self.comet.predict(sources, translations, None).metadata.error_spans
        return [{"errors": [span for span in (trimmed(text, raw) for raw in found) if span["start"] < span["end"]], "omission": False,
                 "instruction_fault": False} for text, found in zip(translations, spans)]


def trimmed(text: str, span: dict[str, Any]) -> dict[str, Any]:
    """Return xCOMET's span without the white space that its tokens carry at the edges."""
    start, end = int(span["start"]), int(span["end"])
    while start < end and text[start:start + 1].isspace():
        start += 1
    while end > start and text[end - 1:end].isspace():
        end -= 1
    return {"start": start, "end": end, "severity": str(span["severity"]), "category": ""}


class MetricX:
    """MetricX-24: mT5 with one number per text, an error score from 0 to 25 (lower is better).

    Parameters
    ----------
    language : str
    model : str
        Folder or name on the hub (google/metricx-24-hybrid-large-v2p6).
    name, gpu, batch_size
        As in `Comet`.
    references : bool
        Use the model with a reference; without one it estimates quality from source and translation.
    """

    def __init__(self, language: str, model: str = "", name: str = "", gpu: bool = False, batch_size: int = 8,
                 references: bool = False) -> None:
        if not model:
            raise InputError("which MetricX model?", hint="--model google/metricx-24-hybrid-large-v2p6, or the path of a folder")
        import torch
        from transformers import AutoTokenizer, MT5ForConditionalGeneration

        if gpu and not torch.cuda.is_available():
            raise InputError("there is no GPU here", hint="Leave --gpu out")
        offline = os.path.isdir(model)
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(model if (Path(model) / "tokenizer_config.json").exists() else "google/mt5-xl",
                                                           local_files_only=offline)
            self.model = MT5ForConditionalGeneration.from_pretrained(model, local_files_only=offline).eval()
        except (OSError, ValueError) as error:
            raise InputError(f"the model cannot be loaded ({_first_line(error)})", path=Path(model) if offline else None,
                             hint="A local folder needs the model and its tokenizer (google/mt5-xl) beside it") from None
        if self.model.config.vocab_size <= METRICX_TOKEN:
            raise InputError(f"a vocabulary of {self.model.config.vocab_size}, not mT5's", hint="Is this a MetricX model?")
        self.device = "cuda" if gpu else "cpu"
        self.torch, self.model = torch, self.model.to(self.device)
        self.batch, self.with_references = batch_size, references
        name, shown = name or "metricx", Path(model).name if offline else model
        self.card = evaluator_card(
            name, name, f"{shown}, transformers {{transformers}}", ["transformers", "torch"], "Apache-2.0", True,
            "0 (no error) to 25", "multilingual", f"MetricX-24 ({shown}); an error score, so lower is better.", model=shown,
            device=self.device, dtype=str(self.model.dtype).removeprefix("torch."), batch_size=batch_size, max_length=METRICX_LENGTH)
        self.card.update(higher_is_better=False, references=references)

    def truncated(self, texts: Sequence[str]) -> int:
        """How many of these texts alone are longer than the model reads."""
        return sum(len(ids) > METRICX_LENGTH for ids in self.tokenizer(list(texts))["input_ids"])

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the error score of each translation, shape (n,)."""
        if self.with_references and references is None:
            raise InputError("this run compares with a reference", hint="Give one with --references")
        texts = [f"source: {s} candidate: {t}" for s, t in zip(sources, translations)]
        if self.with_references:
            texts = [f"{text} reference: {r}" for text, r in zip(texts, references or [])]
        scores: list[float] = []
        for first in range(0, len(texts), self.batch):
            # the end-of-sequence token is left off, as in the model's training
            ids = [self.tokenizer(text)["input_ids"] for text in texts[first:first + self.batch]]
            ids = [(row[:-1] if row and row[-1] == self.tokenizer.eos_token_id else row)[:METRICX_LENGTH] for row in ids]
            width = max(map(len, ids))
            padded = self.torch.tensor([row + [self.tokenizer.pad_token_id or 0] * (width - len(row)) for row in ids], device=self.device)
            mask = self.torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids], device=self.device)
            start = self.torch.zeros((len(ids), 1), dtype=self.torch.long, device=self.device)
            with self.torch.no_grad():
                logits = self.model(input_ids=padded, attention_mask=mask, decoder_input_ids=start).logits
            scores += logits[:, 0, METRICX_TOKEN].float().clamp(*METRICX_RANGE).tolist()
        return np.array(scores)

"""The part of `card.yaml` that no run changes."""
from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any


def evaluator_card(name: str, label: str, made_with: str, packages: Sequence[str], licence: str, reads_source: bool, native_range: str,
                   native_languages: str | list[str], description: str, **more: Any) -> dict[str, Any]:
    """Return an evaluator's card; `native_languages` are those it was made for, `made_with` names packages as {package}."""
    pins = {package: version(package) for package in packages}
    return {"name": name, "label": label, "kind": "evaluator", "version": made_with.format(**pins), "packages": pins,
            "licence": licence, "higher_is_better": True, "references": False, "reads_source": reads_source,
            "native_range": native_range, "native_languages": native_languages, "description": description, **more}


def annotator_card(name: str, label: str, made_with: str, packages: Sequence[str], licence: str, languages: Sequence[str],
                   description: str, **more: Any) -> dict[str, Any]:
    """Return an annotator's card, as `evaluator_card`; it has no native range and no direction."""
    card = evaluator_card(name, label, made_with, packages, licence, False, "", list(languages), description, **more)
    return {key: value for key, value in {**card, "kind": "annotator"}.items() if key not in ("native_range", "higher_is_better")}

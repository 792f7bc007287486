"""Texts and a base model that were made up, small enough to train in seconds on a CPU."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from model.architecture import Floats
from onnx import TensorProto, helper, numpy_helper
from tests.model.numpy_encoder import small_state

THINGS = {
    "cat": "猫", "dog": "狗", "river": "河流", "house": "房子", "tea": "茶", "train": "火车",
    "book": "书", "rain": "雨", "bread": "面包", "garden": "花园",
}  # fmt: skip
DEEDS = {"sees": "看见", "likes": "喜欢", "finds": "找到", "draws": "画"}
OTHERS = ("the", "where", "is", "who", "represent", "this", "sentence", "for", "searching")

ENGLISH = [f"the {a} {deed} the {b}." for a in THINGS for deed in DEEDS for b in THINGS if a != b]
CHINESE = [
    f"{THINGS[a]}{DEEDS[deed]}{THINGS[b]}。"
    for a in THINGS
    for deed in DEEDS
    for b in THINGS
    if a != b
]
LINES = [{"en": en, "zh": zh} for en, zh in zip(ENGLISH, CHINESE, strict=True)]
PAIRS = [
    {"query": f"who {en.split()[2]} the {en.split()[-1][:-1]}", "passage": en, "source": source}
    for number, en in enumerate(ENGLISH)
    for source in [("mdn", "code")[number % 2]]
]


def write_texts(folder: Path) -> None:
    """Every file that `python -m model tokens` reads; its long texts have windows."""
    negatives = [pair | {"negative": PAIRS[-1]["passage"]} for pair in PAIRS[::3]]
    _write(folder / "pairs_en.jsonl", PAIRS + negatives)
    chinese = [{"query": zh[:2], "passage": zh * 3, "source": "mdn"} for zh in CHINESE]
    _write(folder / "pairs_zh.jsonl", chinese)
    _write(folder / "parallel.jsonl", LINES)
    _write(folder / "dictionary.jsonl", [{"en": en, "zh": zh} for en, zh in THINGS.items()])
    mixed = [
        line | {"zh": line["en"].replace("cat", "猫")} for line in LINES if "cat" in line["en"]
    ]
    _write(folder / "code_switched.jsonl", mixed)
    _write(
        folder / "long_en.jsonl",
        [
            {"heading": "garden", "text": "\n".join(ENGLISH[at : at + 20])}
            for at in range(0, len(ENGLISH) - 20, 8)
        ],
    )
    _write(
        folder / "long_zh.jsonl",
        [
            {"lines": LINES[at : at + 30], "style": style}
            for at in range(0, len(LINES) - 30, 24)
            for style in ("paragraphs", "dialogue", "bullets")
        ],
    )
    _write_vocabulary(folder / "vocabulary")


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def english_pieces() -> list[str]:
    """[CLS] and [SEP] are where BERT has them."""
    special = ["[PAD]", *(f"[unused{n}]" for n in range(99)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return [*special, *".:-ab", *OTHERS, *THINGS, *DEEDS]


def _write_vocabulary(folder: Path) -> None:
    folder.mkdir()
    meanings = {zh: [en] for en, zh in (THINGS | DEEDS).items()} | {"流": []}
    pieces = [*english_pieces(), *meanings]
    (folder / "vocab.txt").write_text("".join(f"{one}\n" for one in pieces), encoding="utf-8")
    (folder / "traditional.tsv").write_text("貓\t猫\n", encoding="utf-8")
    (folder / "glosses.json").write_text(json.dumps(meanings), encoding="utf-8")


def write_base(path: Path) -> None:
    """A tiny base model, in the form of the published one: matrices of 8 bits without names,
    which the nodes that multiply know."""
    arrays: list[onnx.TensorProto] = []
    nodes: list[onnx.NodeProto] = []
    for name, value in small_state(words=len(english_pieces())).items():
        if value.ndim == 1:
            arrays.append(numpy_helper.from_array(value, name))
        elif "_embeddings" in name:
            arrays += _quantized(name, value)
        else:
            inner = f"onnx::MatMul_{len(nodes)}"
            arrays += _quantized(inner, value.T)
            node = f"/{name.removesuffix('.weight').replace('.', '/')}/MatMul_quant"
            node = node.replace("layer/", "layer.")
            inputs = ["input", f"{inner}_quantized"]
            nodes.append(helper.make_node("MatMulInteger", inputs, [inner], name=node))
    sizes = [helper.make_tensor_value_info("input", TensorProto.UINT8, ["n", 48])]
    onnx.save(helper.make_model(helper.make_graph(nodes, "base", sizes, [], arrays)), str(path))


def _quantized(name: str, value: Floats) -> list[onnx.TensorProto]:
    scale = np.float32(np.abs(value).max() / 127)
    levels = np.rint(value / scale).astype(np.int8)
    return [
        numpy_helper.from_array(np.ascontiguousarray(levels), f"{name}_quantized"),
        numpy_helper.from_array(np.array(scale), f"{name}_scale"),
        numpy_helper.from_array(np.array(0, np.int8), f"{name}_zero_point"),
    ]

"""Tests that train or export need PyTorch and ONNX: only the environment of `check` that has
`model/requirements.txt` runs them."""

from importlib.util import find_spec

NEED_REQUIREMENTS = [
    "test_encoder.py",
    "test_graph.py",
    "test_network.py",
    "test_ragged.py",
    "test_training.py",
]

collect_ignore = [] if find_spec("torch") and find_spec("onnx") else NEED_REQUIREMENTS

"""GGUF models through the real llama.cpp: a tiny one, made here from a fixed seed."""

from __future__ import annotations

import hashlib
import string
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell import open_memory
from notewell.embedders import llama, local
from notewell.embedders.gguf import NotGguf, read_head
from notewell.embedders.llama import Llama, TimeLimit
from notewell.embedders.local import DEFAULT_MODEL, HubFile, LocalEmbedder
from notewell.errors import (
    BadSetting,
    EmbedderFailed,
    EmbedderMissing,
    TextTooLarge,
)

DIMS, CONTEXT, HIDDEN, LAYERS = 32, 512, 64, 2
LETTERS = string.ascii_lowercase + string.digits
WORDS = ("hello", "world", "router", "garden", "the", "we", "ship")
URI = "hf:someone/tiny/tiny.gguf"


def make_gguf(path: Path, *, seed: int = 7, twice: str = "", pooled: bool = True) -> Path:
    """A model of the kind BERT is; `twice` puts a word into its vocabulary a second time."""
    writer = gguf.GGUFWriter(str(path), "bert")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(DIMS)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(4)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(value=False)
    if pooled:
        writer.add_pooling_type(gguf.PoolingType.MEAN)
    tokens = _add_vocabulary(writer, (*WORDS, twice) if twice else WORDS)
    _add_weights(writer, tokens, np.random.default_rng(seed))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vocabulary(writer: Any, words: tuple[str, ...]) -> int:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = [*special, *("▁" + letter for letter in LETTERS), *LETTERS]
    tokens += ["▁" + word for word in words]
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 2, 3, 3, 3] + [1] * (len(tokens) - 5))
    writer.add_token_type_count(2)
    writer.add_unk_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(3)
    writer.add_sep_token_id(3)
    writer.add_pad_token_id(0)
    writer.add_mask_token_id(4)
    return len(tokens)


def _add_weights(writer: Any, tokens: int, random: np.random.Generator) -> None:
    def some(*shape: int, scale: float = 0.2) -> Any:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    def norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(DIMS, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(DIMS, np.float32))

    def layer(name: str, rows: int, columns: int) -> None:
        writer.add_tensor(f"{name}.weight", some(rows, columns))
        writer.add_tensor(f"{name}.bias", np.zeros(rows, np.float32))

    writer.add_tensor("token_embd.weight", some(tokens, DIMS))
    writer.add_tensor("position_embd.weight", some(CONTEXT, DIMS, scale=0.02))
    writer.add_tensor("token_types.weight", some(2, DIMS, scale=0.02))
    norm("token_embd_norm")
    for block in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            layer(f"blk.{block}.{name}", DIMS, DIMS)
        layer(f"blk.{block}.ffn_up", HIDDEN, DIMS)
        layer(f"blk.{block}.ffn_down", DIMS, HIDDEN)
        norm(f"blk.{block}.attn_output_norm")
        norm(f"blk.{block}.layer_output_norm")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def embedder(tiny: Path) -> Iterator[LocalEmbedder]:
    opened = LocalEmbedder(str(tiny), tiny.parent, threads=1)
    yield opened
    opened.close()


# -- vectors -------------------------------------------------------------------------------------


def test_vectors_have_the_shape_the_file_tells_and_length_one(embedder: LocalEmbedder) -> None:
    texts = ["hello world", "", "\x00", "日本語", "the router \ud800"]
    vectors = embedder.embed(texts, "document")
    assert vectors.shape == (5, DIMS) == (5, embedder.facts.dims)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.embed([], "query").shape == (0, DIMS)


def test_texts_that_share_words_are_nearer(embedder: LocalEmbedder) -> None:
    ship, shipped, garden = embedder.embed(
        ["we ship the router", "the router we ship", "garden"], "document"
    )
    assert ship @ shipped > ship @ garden + 0.1


def test_the_same_text_has_the_same_vector_in_another_process(
    embedder: LocalEmbedder, tiny: Path
) -> None:
    other = LocalEmbedder(str(tiny), tiny.parent, threads=1)
    again = other.embed(["garden", "hello world"], "document")
    other.close()
    assert np.allclose(embedder.embed(["hello world"], "document")[0], again[1], atol=1e-6)


def test_a_text_longer_than_the_context_is_the_mean_of_its_halves(
    embedder: LocalEmbedder,
) -> None:
    first, second = "hello world " * 200, "garden ship " * 200
    (whole,) = embedder.embed([first.strip() + " " + second.strip()], "document")
    halves = embedder.embed([first.strip(), second.strip()], "document")
    mean = halves.sum(axis=0)
    assert whole @ (mean / np.linalg.norm(mean)) > 0.999


def test_a_text_without_end_is_refused_and_the_next_one_is_answered(
    embedder: LocalEmbedder,
) -> None:
    with pytest.raises(TextTooLarge, match="100000 characters"):
        embedder.embed(["x " * 50_000], "document")
    assert embedder.embed(["hello"], "query").shape == (1, DIMS)


def test_a_family_known_by_the_name_of_its_file_gets_its_prompts(tmp_path: Path) -> None:
    plain = LocalEmbedder(str(make_gguf(tmp_path / "plain.gguf")), tmp_path)
    nomic = LocalEmbedder(str(make_gguf(tmp_path / "nomic-embed-text-v1.5.gguf")), tmp_path)
    query = nomic.embed(["hello"], "query")
    document = nomic.embed(["hello"], "document")
    same = plain.embed(["search_query: hello", "search_document: hello"], "document")
    plain.close()
    nomic.close()
    assert np.allclose(np.concatenate([query, document]), same, atol=1e-6)


def test_a_file_that_does_not_say_how_to_pool_gives_the_mean(
    tmp_path: Path, embedder: LocalEmbedder
) -> None:
    unsaid = LocalEmbedder(str(make_gguf(tmp_path / "tiny.gguf", pooled=False)), tmp_path)
    vectors = unsaid.embed(["hello world"], "document")
    unsaid.close()
    assert np.allclose(vectors, embedder.embed(["hello world"], "document"), atol=1e-6)


def test_threads_may_share_one_embedder(embedder: LocalEmbedder) -> None:
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: embedder.embed(["garden"], "document"), range(8)))
    assert all(np.array_equal(vectors[0], other) for other in vectors)


# -- a process of its own ------------------------------------------------------------------------


def test_nothing_is_printed_and_no_port_is_opened(tiny: Path) -> None:
    code = (
        "import sys, pathlib; from notewell.embedders.local import LocalEmbedder\n"
        "e = LocalEmbedder(sys.argv[1], pathlib.Path('.')); e.embed(['hello'], 'document')\n"
        "net = pathlib.Path(f'/proc/{e._llama._child.pid}/fd')\n"
        "sockets = {p.readlink().name for p in net.iterdir() if 'socket' in str(p.readlink())}\n"
        "tcp = ''.join(p.read_text('ascii') for p in pathlib.Path('/proc/net').glob('tcp*'))\n"
        "assert sockets and not [s for s in sockets if s[8:-1] in tcp.split()], sockets\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tiny)], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_a_file_that_makes_llama_cpp_abort_leaves_us_alive(tmp_path: Path) -> None:
    path = make_gguf(tmp_path / "twice.gguf", twice="hello")
    embedder = LocalEmbedder(str(path), tmp_path)
    assert embedder.missing() is None
    with pytest.raises(EmbedderFailed, match=r"signal 6.*GGML_ASSERT"):
        embedder.embed(["hello"], "document")


def test_a_truncated_file_is_told_with_the_reason_llama_cpp_gives(
    tmp_path: Path, tiny: Path
) -> None:
    (tmp_path / "cut.gguf").write_bytes(tiny.read_bytes()[:-20_000])
    with pytest.raises(EmbedderFailed, match=r"does not load .*cut\.gguf.*bounds"):
        LocalEmbedder(str(tmp_path / "cut.gguf"), tmp_path).embed(["hello"], "document")


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path, tiny: Path) -> None:
    content = bytearray(tiny.read_bytes())
    content[-4 * DIMS :] = struct.pack("<f", float("nan")) * DIMS
    (tmp_path / "nan.gguf").write_bytes(content)
    embedder = LocalEmbedder(str(tmp_path / "nan.gguf"), tmp_path)
    with pytest.raises(EmbedderFailed):
        embedder.embed(["hello"], "document")
    embedder.close()


def test_after_the_process_died_the_next_text_starts_another(tiny: Path) -> None:
    embedder = LocalEmbedder(str(tiny), tiny.parent)
    before = embedder.embed(["hello"], "document")
    child = embedder._running()._child
    child.kill()
    child.wait()
    assert np.array_equal(embedder.embed(["hello"], "document"), before)
    assert embedder._running()._child is not child
    embedder.close()


def test_a_process_that_dies_while_it_is_asked_is_told(tiny: Path) -> None:
    running = Llama(tiny, context=CONTEXT, pooled=True, threads=1)
    running._child.kill()
    with pytest.raises(EmbedderFailed, match=r"died \(signal 9\)"):
        running.rows(["hello"], TimeLimit(60.0, "s"))
    assert not running.usable


def test_an_interrupted_question_leaves_no_answer_for_the_next(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = LocalEmbedder(str(tiny), tiny.parent)
    expected = embedder.embed(["hello", "garden"], "document")
    running = embedder._running()
    with monkeypatch.context() as patched:
        stdout = running._child.stdout
        assert stdout is not None
        patched.setattr(running._child, "stdout", _Interrupted())
        with pytest.raises(KeyboardInterrupt):
            embedder.embed(["hello"], "document")
        stdout.close()
    assert np.array_equal(embedder.embed(["garden"], "document"), expected[1:])
    embedder.close()


class _Interrupted:
    """A pipe at which somebody presses Ctrl-C."""

    def readline(self) -> bytes:
        raise KeyboardInterrupt

    def close(self) -> None: ...


def test_a_process_that_does_not_answer_in_time_is_ended(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = tmp_path / "deaf.py"
    deaf.write_text(
        "import sys\nsys.stdin.readline(); print('{}', flush=True)\nsys.stdin.read()\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(llama, "WORKER", deaf)
    embedder = LocalEmbedder(str(tiny), tmp_path, query_timeout_s=0.05)
    with pytest.raises(
        EmbedderFailed, match=r"did not reply within .*query\.embeddingTimeoutSeconds"
    ):
        embedder.embed(["hello"], "query")


def test_the_process_ends_when_nobody_needs_it_any_more(tiny: Path) -> None:
    running = Llama(tiny, context=CONTEXT, pooled=True, threads=1)
    child = running._child
    assert child.poll() is None
    del running
    assert child.returncode is not None


# -- what is missing -----------------------------------------------------------------------------


def test_facts_come_from_the_file_and_change_with_its_content(tmp_path: Path) -> None:
    one = LocalEmbedder(str(make_gguf(tmp_path / "m.gguf")), tmp_path).facts
    two = LocalEmbedder(str(make_gguf(tmp_path / "m.gguf", seed=8)), tmp_path).facts
    assert (one.provider, one.dims, one.chunk_tokens) == ("local", DIMS, 400)
    assert one.model.startswith("m@")
    assert one.model != two.model


def test_a_file_that_is_not_there_or_no_model_says_what_to_do(tmp_path: Path) -> None:
    gone = LocalEmbedder(str(tmp_path / "gone.gguf"), tmp_path)
    assert "gone.gguf' is not there; name another file" in str(gone.missing())
    (tmp_path / "text.gguf").write_text("no model", encoding="utf-8")
    text = LocalEmbedder(str(tmp_path / "text.gguf"), tmp_path)
    assert "does not start with 'GGUF'" in str(text.missing())
    for embedder in (gone, text):
        with pytest.raises(EmbedderMissing):
            embedder.embed(["hello"], "document")


def test_without_the_package_the_extra_is_named(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "PACKAGE", "no_such_package")
    missing = LocalEmbedder(str(tiny), tiny.parent).missing()
    assert str(missing) == (
        "no_such_package is not installed; install Notewell with its extra `local`: "
        "`pip install '.[local]'` in a checkout"
    )


def test_the_default_model_is_known_before_it_is_here(tmp_path: Path) -> None:
    embedder = LocalEmbedder(None, tmp_path)
    assert (embedder.facts.dims, embedder.facts.model) == (768, "embeddinggemma-300M-Q8_0")
    assert f"notewell model pull {DEFAULT_MODEL}" in str(embedder.missing())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "uri",
    ["hf:", "hf:owner/file.gguf", "hf:a/b/c.bin", "hf:a/b/../c.gguf", "hf:a/b//etc/c.gguf"],
)
def test_a_name_that_is_no_file_of_the_hub_is_refused(uri: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="hf:owner/repo/file"):
        LocalEmbedder(uri, tmp_path)


def test_a_name_of_the_hub_becomes_an_address_and_a_place(tmp_path: Path) -> None:
    file = HubFile.parse("hf:some-one/a.b/q8/model 1.gguf#v2")
    assert file.address("https://hub/") == "https://hub/some-one/a.b/resolve/v2/q8/model%201.gguf"
    assert file.below(tmp_path) == tmp_path / "some-one" / "a.b@v2" / "q8" / "model 1.gguf"


# -- from the hub --------------------------------------------------------------------------------


class _Hub(BaseHTTPRequestHandler):
    content = b""

    def log_message(self, *_: Any) -> None: ...

    def do_HEAD(self) -> None:
        self.send_response(200 if self.path == "/someone/tiny/resolve/main/tiny.gguf" else 404)
        self.send_header("Content-Length", str(len(self.content)))
        self.send_header("ETag", f'"{hashlib.sha256(self.content).hexdigest()}"')
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(self.content)


@pytest.fixture
def hub(tiny: Path) -> Iterator[str]:
    handler = type("Handler", (_Hub,), {"content": tiny.read_bytes()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_documents_bring_the_model_and_questions_never_do(hub: str, tmp_path: Path) -> None:
    embedder = LocalEmbedder(URI, tmp_path, hub=hub)
    assert embedder.facts.dims == 0
    with pytest.raises(EmbedderMissing, match=f"notewell model pull {URI}"):
        embedder.embed(["hello"], "query")
    assert embedder.missing() is not None
    assert list(tmp_path.iterdir()) == []
    assert embedder.embed(["hello"], "document").shape == (1, DIMS)
    assert embedder.facts.dims == DIMS
    assert embedder.missing() is None
    assert embedder.prepare() is None
    embedder.close()


def test_offline_the_message_names_both_ways_on(tmp_path: Path) -> None:
    embedder = LocalEmbedder(URI, tmp_path, hub="http://127.0.0.1:1")
    with pytest.raises(EmbedderMissing, match=r"cannot be reached.*model pull.*elsewhere"):
        embedder.prepare()


# -- the head of a file --------------------------------------------------------------------------


def test_the_head_is_read_without_the_vocabulary(tiny: Path) -> None:
    head = read_head(tiny)
    assert (head.architecture, head.name) == ("bert", "tiny")
    assert (head.dims, head.context_tokens, head.pooled) == (DIMS, CONTEXT, True)


@given(cut=st.integers(0, 400))
def test_a_head_that_was_cut_off_is_refused(cut: int, tiny: Path) -> None:
    part = tiny.with_name("head.gguf")
    part.write_bytes(tiny.read_bytes()[:cut])
    with pytest.raises(NotGguf):
        read_head(part)


@given(at=st.integers(4, 600), byte=st.integers(0, 255))
def test_a_broken_head_is_refused_or_read_but_never_falls_over(
    at: int, byte: int, tiny: Path
) -> None:
    content = bytearray(tiny.read_bytes())
    content[at] = byte
    part = tiny.with_name("head.gguf")
    part.write_bytes(content)
    with suppress(NotGguf):
        assert read_head(part).dims > 0


# -- an index with a model that is not here yet --------------------------------------------------


def test_one_sync_brings_the_model_and_builds_the_index_for_it(hub: str, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "a.md").write_text("hello world\n", encoding="utf-8")
    embedder = LocalEmbedder(URI, tmp_path / "models", hub=hub)
    labels: list[str] = []
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=embedder) as memory:
        report = memory.sync(progress=lambda progress: labels.append(progress.label))
        assert (report.trouble, report.vectors_waiting) == (None, 0)
        assert report.vectors_added == report.chunks > 0
        assert "MiB of the model" in labels
        again = memory.sync()
        assert (again.rebuilt, again.written, again.vectors_added) == (None, 0, 0)
        assert memory.search("hello").mode == "hybrid"
    embedder.close()


def test_without_the_model_the_words_are_indexed_and_the_report_says_why(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "a.md").write_text("hello world\n", encoding="utf-8")
    embedder = LocalEmbedder(URI, tmp_path / "models", hub="http://127.0.0.1:1")
    with open_memory(workspace, state_dir=tmp_path / "state", embedder=embedder) as memory:
        report = memory.sync()
        assert isinstance(report.trouble, EmbedderMissing)
        assert report.is_degraded
        assert memory.search("hello").hits

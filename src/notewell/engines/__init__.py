"""The engines that find lines in notes, behind one protocol.

protocol.py   what every engine does, and the question it gets
builtin.py    START HERE: the built-in engine over our own index
switching.py  which embedder its index is synced with, and when another takes its place
inspect.py    read-only queries about that index, for the web page and the diagnosis
first_index.py  whether a search indexes notes that were never indexed
status.py     the state of a memory, computed from what is there
qmd.py        QMD, an external program, as an engine; qmd_status.py: its status
fallback.py   a circuit breaker: a second engine answers while the first one fails
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.engines.builtin import BuiltinEngine, ViewAnswer, search_store
    from notewell.engines.fallback import FallbackEngine
    from notewell.engines.first_index import is_worth_indexing, not_indexed, unsearchable
    from notewell.engines.inspect import IndexInspector, Placed
    from notewell.engines.protocol import Engine, SearchElsewhere, StoreSearcher, search_fresh
    from notewell.engines.qmd import open_qmd
    from notewell.engines.status import (
        Answering,
        EmbedderProbe,
        Probe,
        Status,
        VectorProbe,
        as_recorded,
        with_record,
    )
    from notewell.engines.switching import maker_of
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "builtin": "BuiltinEngine ViewAnswer search_store",
            "fallback": "FallbackEngine",
            "first_index": "is_worth_indexing not_indexed unsearchable",
            "inspect": "IndexInspector Placed",
            "protocol": "Engine SearchElsewhere StoreSearcher search_fresh",
            "qmd": "open_qmd",
            "switching": "maker_of",
            "status": "Answering EmbedderProbe Probe Status VectorProbe as_recorded with_record",
        },
    )

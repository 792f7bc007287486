"""Spans for OpenTelemetry, where its API is installed; else nothing.

Only the API: who wants to see spans sets up an SDK and an exporter around us. Attributes are names
and figures of ours, never a question, a text or a path.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Note = Callable[[str, str | int | float | bool], None]


@cache
def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    from notewell import __version__

    # The global provider is asked at each span, so one that is set up later is heard too.
    return trace.get_tracer("notewell", __version__)


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[Note]:
    """What is yielded adds an attribute that is known only later."""
    tracer = _tracer()
    if tracer is None:
        yield lambda *_: None
        return
    with tracer.start_as_current_span(
        name,
        attributes={f"notewell.{key}": value for key, value in attributes.items()},
        record_exception=False,  # Its message may quote what was asked.
    ) as current:
        yield lambda key, value: current.set_attribute(f"notewell.{key}", value)

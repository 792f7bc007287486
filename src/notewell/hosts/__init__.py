"""Hosts: the programs in which agents run. One file describes one host; HOSTS lists them.

host.py        the description: transcript format, hook file, MCP file
messages.py    what the parsers of transcripts share: text, time and speaker of a message
registry.py    START HERE: HOSTS, and the lists that are derived from it
openclaw.py  claude.py  codex.py  cursor.py  vscode.py  gemini.py  qwen.py  copilot.py
opencode.py  cline.py  continue_.py (`continue` is a keyword)

A new host is a new file with a `HOST`, and its name in `registry._MODULES`. Nothing here reads or
writes a file: `sessions` reads the transcripts, `clients` edits the configuration files.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.hosts.host import (
        HOOK_GUARD,
        HOOK_TIMEOUT_S,
        HookCalls,
        HookFields,
        HookFile,
        Host,
        Machine,
        McpFile,
        PluginFile,
        ProjectFile,
        TranscriptDatabase,
        TranscriptFormat,
    )
    from notewell.hosts.messages import (
        SPEAKERS,
        Record,
        RecordFacts,
        Turn,
        folded,
        parse_time,
        texts_of,
        turn_of,
        without_inserted,
    )
    from notewell.hosts.registry import (
        HOOK_CALLS,
        HOOK_FILES,
        HOSTS,
        MCP_FILES,
        TRANSCRIPT_DATABASES,
        TRANSCRIPT_FORMATS,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "host": (
                "HOOK_GUARD HOOK_TIMEOUT_S HookCalls HookFields HookFile Host Machine McpFile "
                "PluginFile ProjectFile TranscriptDatabase TranscriptFormat"
            ),
            "messages": (
                "Record RecordFacts SPEAKERS Turn folded parse_time texts_of turn_of "
                "without_inserted"
            ),
            "registry": (
                "HOOK_CALLS HOOK_FILES HOSTS MCP_FILES TRANSCRIPT_DATABASES TRANSCRIPT_FORMATS"
            ),
        },
    )

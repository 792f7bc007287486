"""Settings: what files may say, who of them wins, and the values that hold without any.

Keys are spelled as in OpenClaw; `docs/reference/settings.md` lists them all:

    {"agents": {"defaults": {"memorySearch": {"extraPaths": ["docs"]}}}}

A file becomes a tree with lines (`read_file`) and is held against the table of keys (`table`,
`walk`); the layers are resolved into one `Configuration` (`resolve`).
"""

from notewell.config.paths import default_state_dir
from notewell.config.settings import (
    WORKSPACE_FILE,
    Settings,
    load_settings,
    write_workspace_file,
)

__all__ = [
    "WORKSPACE_FILE",
    "Settings",
    "default_state_dir",
    "load_settings",
    "write_workspace_file",
]

"""Settings: what a workspace file may say, and the values that hold without one.

The file is `recollect.json` at the top of the workspace, with keys spelled as in OpenClaw:

    {"agents": {"defaults": {"memorySearch": {"extraPaths": ["docs"]}}}}
"""

from recollect.config.paths import default_state_dir
from recollect.config.settings import (
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

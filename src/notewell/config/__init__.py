"""Settings: what files may say, who of them wins, and the values that hold without any.

Keys are spelled as in OpenClaw; `docs/reference/settings.md` lists them all:

    {"agents": {"defaults": {"memorySearch": {"extraPaths": ["docs"]}}}}

A file becomes a tree with lines (`read_file`) and is held against the table of keys (`table`,
`walk`); the layers are resolved into one `Configuration` (`resolve`).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.config.openclaw import OpenClaw, from_openclaw
    from notewell.config.paths import default_state_dir, has_files
    from notewell.config.positions import Finding, Kind
    from notewell.config.resolve import (
        AgentConfig,
        Asked,
        Configuration,
        check_file,
        load_configuration,
        read_configuration,
    )
    from notewell.config.schema import json_schema
    from notewell.config.secret import masked
    from notewell.config.settings import (
        WORKSPACE_FILE,
        Settings,
        load_settings,
        settings_of,
        write_workspace_file,
    )
    from notewell.config.validate import Owner
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "openclaw": "OpenClaw from_openclaw",
            "paths": "default_state_dir has_files",
            "positions": "Finding Kind",
            "resolve": (
                "AgentConfig Asked Configuration check_file load_configuration read_configuration"
            ),
            "schema": "json_schema",
            "secret": "masked",
            "settings": "Settings WORKSPACE_FILE load_settings settings_of write_workspace_file",
            "validate": "Owner",
        },
    )

"""Settings: what files can set, which file wins, and the defaults.

Keys are spelled as in OpenClaw; `docs/reference/settings.md` lists them all:

    {"agents": {"defaults": {"memorySearch": {"extraPaths": ["docs"]}}}}

paths.py        where configuration and state are
document.py     a file as a tree in which every value has its line; read_json5, read_yaml: parsers
checks.py       what a key accepts; one row of the table; secret_values.py: keys and headers
keys_*.py       the table; registry.py: the table as a tree and as a JSON Schema
workspace_rules.py  what the file of a workspace may set
validate.py     a file compared with the table: its settings and its problems
layers.py       files from disk to checked layers
outside_folders.py  the user's answers about folders outside a workspace
agents.py       agents, collected from the files; bindings.py, provider_entries.py: the rest
effects.py      values that have no effect beside others; effects_embedder.py: of the embedder
doubts.py       values that cannot do what they say, here or anywhere
resolve.py      which file wins: the `Configuration`
settings.py     START HERE: `Settings`, the bundle of what each package is handed
openclaw.py     an existing OpenClaw, read only
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.config.document import ConfigFinding, FindingKind
    from notewell.config.layers import workspace_file, workspace_layer
    from notewell.config.openclaw import OpenClaw, from_openclaw
    from notewell.config.outside_folders import record_outside_answer
    from notewell.config.paths import (
        WORKSPACE_FILE,
        default_state_dir,
        has_files,
        moved_user_file,
        unfinished,
        user_config_dir,
        user_file,
        user_file_mark,
        write_new,
        write_user_file,
        write_workspace_file,
    )
    from notewell.config.provider_entries import PROVIDER_FIELDS
    from notewell.config.registry import json_schema
    from notewell.config.resolve import (
        AgentConfig,
        ConfigScope,
        Configuration,
        check_file,
        load_configuration,
        read_configuration,
    )
    from notewell.config.secret_values import masked
    from notewell.config.settings import (
        Settings,
        load_settings,
        preloaded_settings,
        settings_of,
    )
    from notewell.config.validate import Owner
    from notewell.config.workspace_rules import leaves_the_workspace
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "document": "ConfigFinding FindingKind",
            "layers": "workspace_file workspace_layer",
            "outside_folders": "record_outside_answer",
            "openclaw": "OpenClaw from_openclaw",
            "paths": (
                "WORKSPACE_FILE default_state_dir has_files moved_user_file unfinished "
                "user_config_dir user_file user_file_mark "
                "write_new write_user_file write_workspace_file"
            ),
            "provider_entries": "PROVIDER_FIELDS",
            "registry": "json_schema",
            "resolve": (
                "AgentConfig ConfigScope Configuration check_file load_configuration "
                "read_configuration"
            ),
            "secret_values": "masked",
            "settings": "Settings load_settings preloaded_settings settings_of",
            "validate": "Owner",
            "workspace_rules": "leaves_the_workspace",
        },
    )

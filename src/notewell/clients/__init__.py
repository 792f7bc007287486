"""Clients: put Notewell into the configuration files of other programs.

install.py   START HERE: read a file, keep a backup, replace the file at once
backups.py   the copies of a file from before our changes, and which of them are spare
footprint.py which folders the installer made
formats.py   JSON, TOML, YAML: how a file is read
merge.py     one MCP entry more in a file's text, JSON or TOML; merge_yaml.py: YAML
hooks.py     one hook more for each event, JSON
ours.py      which entries and hooks in a file are ours
remove.py    the text without what was put in; cut_json.py: without one value
plugins.py   hosts that have our plugin, and those that have Notewell twice
projects.py  the folders that hosts were started in

The files belong to other programs and to the user, so they are edited as text: no character that
is there changes. Which file, and which form, is in `notewell.hosts`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.clients.footprint import record_install, record_removal
    from notewell.clients.hooks import (
        has_hooks,
        hook_command_line,
        install_hooks,
        remove_hooks,
        with_hooks,
    )
    from notewell.clients.install import (
        FileNotWritten,
        Installed,
        entry_text,
        has_entry,
        install_entry,
        remove_entry,
    )
    from notewell.clients.merge import CannotMerge, EntryExists, merged
    from notewell.clients.ours import hook_places, is_our_entry
    from notewell.clients.plugins import (
        double_installs,
        has_plugin,
        plugin_left,
        refuse_beside_plugin,
    )
    from notewell.clients.projects import HostProject, host_projects
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "footprint": "record_install record_removal",
            "hooks": "has_hooks hook_command_line install_hooks remove_hooks with_hooks",
            "install": "FileNotWritten Installed entry_text has_entry install_entry remove_entry",
            "merge": "CannotMerge EntryExists merged",
            "ours": "hook_places is_our_entry",
            "plugins": "double_installs has_plugin plugin_left refuse_beside_plugin",
            "projects": "HostProject host_projects",
        },
    )

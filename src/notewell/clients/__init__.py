"""Clients: put Notewell into the configuration files of other programs.

install.py   START HERE: read a file, keep a backup, replace the file at once
merge.py     one MCP entry more in a file's text, JSON or TOML; merge_yaml.py: YAML
hooks.py     one hook more for each event, JSON
remove.py    the text without what was put in
plugins.py   hosts that have our plugin, and those that have Notewell twice

The files belong to other programs and to the user, so they are edited as text: no character that
is there changes. Which file, and which form, is in `notewell.hosts`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from notewell.clients.plugins import double_installs, refuse_beside_plugin
    from notewell.clients.remove import hook_places, is_our_entry
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "hooks": "has_hooks hook_command_line install_hooks remove_hooks with_hooks",
            "install": "FileNotWritten Installed entry_text has_entry install_entry remove_entry",
            "merge": "CannotMerge EntryExists merged",
            "plugins": "double_installs refuse_beside_plugin",
            "remove": "hook_places is_our_entry",
        },
    )

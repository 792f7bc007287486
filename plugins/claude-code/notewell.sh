#!/bin/sh
# Runs `notewell` for a plugin of a host: notewell.sh hook session-start --host claude
#
# The folder of notes is the option of the plugin (Claude Code has a variable of its own for it),
# else NOTEWELL_WORKSPACE, else what the settings of Notewell name. If the command is not installed,
# this script says so as hosts show it: an error on standard error would be seen by nobody.
set -u

# A service may run without this variable.
home=${HOME:-$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)}
workspace=${CLAUDE_PLUGIN_OPTION_WORKSPACE:-}
case $workspace in
    "" | '${'*) workspace=${NOTEWELL_WORKSPACE:-} ;; # A host leaves a name without a value as it is.
esac
case $workspace in
    "" | '${'*) set -- "$@" --configured ;;
    "~") set -- "$@" --workspace "${home:-~}" ;;
    "~/"*) set -- "$@" --workspace "${home:-~}/${workspace#??}" ;;
    *) set -- "$@" --workspace "$workspace" ;;
esac

# Claude Code has an option of the plugin that declines recall.
if [ "${CLAUDE_PLUGIN_OPTION_RECALL:-}" = false ]; then
    for word; do
        shift
        [ "$word" = --recall ] || set -- "$@" "$word"
    done
fi

# A host that was not started from a shell may not have the folder of pipx and uv on its path.
for program in notewell ${home:+"$home/.local/bin/notewell"}; do
    if command -v "$program" >/dev/null 2>&1; then
        exec "$program" "$@"
    fi
done

missing="The Notewell plugin does nothing yet: the command 'notewell' is not installed. Install it (pipx install '.[mcp]' in a checkout of Notewell), then start a new session."

# The answer to one request of an MCP client, without its id.
answer() {
    version=$(printf '%s' "$1" | sed -n 's/.*"protocolVersion" *: *"\([^"]*\)".*/\1/p')
    case $1 in
        *'"initialize"'*)
            printf '"result":{"protocolVersion":"%s","capabilities":{"tools":{}},' "${version:-2025-06-18}"
            printf '"serverInfo":{"name":"notewell","version":"0"},"instructions":"%s"}' "$missing" ;;
        *'"tools/list"'*)
            printf '"result":{"tools":[{"name":"memory_status","description":"%s",' "$missing"
            printf '"inputSchema":{"type":"object","properties":{}}}]}' ;;
        *'"tools/call"'*)
            printf '"result":{"content":[{"type":"text","text":"%s"}],"isError":true}' "$missing" ;;
        *'"ping"'*) printf '"result":{}' ;;
        *) printf '"error":{"code":-32601,"message":"%s"}' "$missing" ;;
    esac
}

case "$1 $2" in
    "mcp serve")
        # Not an exit: Codex then refuses to start, and others drop the server without a word.
        while IFS= read -r line; do
            id=$(printf '%s' "$line" | sed -n -E 's/.*"id" *: *("[^"]*"|[0-9]+).*/\1/p')
            # A message without an id wants no answer.
            [ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$(answer "$line")"
        done ;;
    "hook session-start")
        printf '{"systemMessage":"%s",' "$missing"
        printf '"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"%s"}}\n' "$missing" ;;
esac

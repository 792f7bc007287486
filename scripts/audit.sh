#!/bin/sh
# Check the locked packages for known vulnerabilities, and write an SBOM.
#
#   requirements/run.lock   a known vulnerability is a failure: users install these
#   requirements/dev.lock   a known vulnerability is only reported: users do not install these
#   build/sbom.json         CycloneDX 1.6, every runtime package with the hashes of its files
#
# If no service answers, or it does not know our packages, the script says so and does not fail. An
# audit that did not happen must not look like one that found nothing.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

AUDIT='pip-audit==2.10.1'  # asks PyPI's JSON API, which carries the advisories of OSV
SBOM='cyclonedx-bom==7.5.0'
tools=.cache/audit
if [ "$(cat "$tools/made-of" 2>/dev/null)" != "$AUDIT $SBOM" ]; then
    say "Setting up $tools (once)"
    rm -rf "$tools"
    "$(find_python)" -m venv "$tools"
    if ! "$tools/bin/python" -m pip install --quiet "$AUDIT" "$SBOM"; then
        say 'NOT AUDITED: the tools could not be fetched; nothing is known about vulnerabilities'
        rm -rf "$tools"
        exit 0
    fi
    echo "$AUDIT $SBOM" >"$tools/made-of"
fi

mkdir -p build
# The lock names every version with its hashes, so nothing is resolved and pip is not asked.
"$tools/bin/cyclonedx-py" requirements --pyproject pyproject.toml --mc-type library \
    --sv 1.6 --output-reproducible -o build/sbom.json requirements/run.lock 2>/dev/null
"$tools/bin/python" - <<'CHECK'
import json
import re

with open("build/sbom.json", encoding="utf-8") as file:
    listed = {one["name"].lower() for one in json.load(file)["components"]}
with open("requirements/run.lock", encoding="utf-8") as file:
    locked = {name.lower() for name in re.findall(r"^([\w.-]+)==", file.read(), re.M)}
if locked - listed:
    raise SystemExit(f"build/sbom.json lacks {sorted(locked - listed)}")
print(f"build/sbom.json: {len(listed)} packages")
CHECK

# audit LOCK: 0 nothing found or nobody answered, 1 a known vulnerability. Prints which.
audit() {
    report="build/audit-$(basename "$1" .lock).json"
    rm -f "$report"
    timeout 30 "$tools/bin/pip-audit" --requirement "$1" --disable-pip --no-deps \
        --progress-spinner off --timeout 10 --format json --output "$report" \
        >/dev/null 2>build/audit.log || true
    "$tools/bin/python" - "$1" "$report" <<'TELL'
import json
import sys
from pathlib import Path

lock, report = sys.argv[1], Path(sys.argv[2])
try:
    found = json.loads(report.read_text(encoding="utf-8"))["dependencies"]
except (OSError, ValueError, KeyError):
    found = []
known = [one for one in found if "skip_reason" not in one]
bad = [one for one in known if one.get("vulns")]
for one in bad:
    for vulnerability in one["vulns"]:
        fixed = ", ".join(vulnerability["fix_versions"]) or "no release yet"
        print(f"{lock}: {one['name']} {one['version']}: {vulnerability['id']}, fixed in: {fixed}")
if not known:
    print(f"\n!!! NOT AUDITED: {lock}: no service answered about its packages.")
    print("!!! Nothing is known about their vulnerabilities; run this where PyPI can be asked.\n")
else:
    left = f", {len(found) - len(known)} NOT KNOWN to the service" if len(found) > len(known) else ""
    print(f"{lock}: {len(known)} packages asked for, {len(bad)} with known vulnerabilities{left}")
sys.exit(1 if bad else 0)
TELL
}

say 'Known vulnerabilities'
failed=0
audit requirements/run.lock || failed=1
audit requirements/dev.lock || echo '(in tools that only we run: not a failure)'
exit "$failed"

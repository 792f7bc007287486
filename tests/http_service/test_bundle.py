"""One script of many modules runs as the modules do, and what it cannot translate is an error."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from notewell.http_service.ui.bundle import bundle

MODULES = {
    "main.js": """import { add, Counter as Tally } from "./sums.js";
import * as words from "./words.js";
import {
  one,
  two,
} from "./numbers.js";

const add_all = (...all) => all.reduce(add, 0);
console.log(JSON.stringify([add_all(one, two), new Tally().next(), words.join("a", "b")]));
""",
    "sums.js": """import { one } from "./numbers.js";

export function add(a, b) {
  return a + b;
}
export class Counter {
  next() {
    return one;
  }
}
""",
    "numbers.js": "export const one = 1;\nexport const two = 2;\nconst join = 3;\n",
    "words.js": 'export const join = (...all) => all.join(SEPARATOR);\nconst SEPARATOR = "-";\n',
}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_bundle_runs_as_its_modules_do() -> None:
    script = bundle(MODULES, "main.js")
    command = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert json.loads(done.stdout) == [3, 1, "a-b"]


def test_each_module_is_there_once_and_after_those_that_it_needs() -> None:
    script = bundle(MODULES, "main.js")
    places = [script.index(f"const {name} = ") for name in ("numbers_js", "sums_js", "main_js")]
    assert places == sorted(places)
    assert script.count("const numbers_js = ") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "export default 1;",
        "export { a };",
        "export let a = 1;",
        'import a from "./a.js";',
        'import "./a.js";',
    ],
)
def test_what_cannot_be_translated_is_an_error(statement: str) -> None:
    with pytest.raises(ValueError, match="cannot be bundled"):
        bundle({"main.js": f"{statement}\n"}, "main.js")


def test_modules_that_import_each_other_are_an_error() -> None:
    modules = {
        "a.js": 'import { b } from "./b.js";\nexport const a = 1;\n',
        "b.js": 'import { a } from "./a.js";\nexport const b = 1;\n',
    }
    with pytest.raises(ValueError, match="import each other"):
        bundle(modules, "a.js")

"""Takes the screenshots of docs/pictures from a made-up memory.

python -m scripts.docs.pictures        (needs Playwright and Chromium; see scripts/browser.sh)
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright
from tests.browser.service import Service
from tests.browser.visit import Visit, theme

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
CHROMIUM = os.environ.get("NOTEWELL_TEST_CHROMIUM") or shutil.which("chromium")
LAST_DAY = date(2026, 11, 15)
SESSION = "2026-11-14-gateway"
SUBJECTS = {
    "bread": ("Sourdough starter", "Rye loaf", "Oven stone", "Banneton"),
    "garden": ("Tomato bed", "Compost heap", "Raised bed", "Rain barrel"),
    "network": ("Access point", "Guest network", "Backup link", "Mail relay"),
    "sky": ("Finder scope", "Mount", "Dew heater", "Star chart"),
    "solar": ("Inverter", "Battery", "Charge controller", "String B"),
    "bicycle": ("Chain", "Rear wheel", "Brake pads", "Dynamo"),
}
FACTS = {
    "bread": (
        "hydration {n} % works best",
        "rests {n} minutes before shaping",
        "doubled in {n} hours at 24 °C",
    ),
    "garden": (
        "needs {n} litres of water a week",
        "was planted {n} days ago",
        "gets sun for {n} hours",
    ),
    "network": (
        "drops packets on channel {n}",
        "answers in {n} ms",
        "was restarted {n} times this month",
    ),
    "sky": (
        "is aligned to {n} arc minutes",
        "tracks for {n} minutes without trailing",
        "needs {n} V",
    ),
    "solar": (
        "peaks at {n} percent at noon",
        "lost {n} percent over the winter",
        "holds for {n} hours",
    ),
    "bicycle": ("has run {n} hundred kilometres", "was trued {n} weeks ago", "lasts {n} months"),
}
WHY = (
    "Measured twice.",
    "The manual is wrong here; see the label.",
    "Decided together last week.",
)
SECRET = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2


def make_memory(folder: Path) -> None:
    chance = random.Random(20261115)  # noqa: S311 - a fixed memory gives the same pictures
    workspace = folder / "workspace"
    for path, text in notes(chance).items():
        target = workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    sessions = folder / "state" / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    for name, turns in conversations().items():
        lines = "".join(f"{json.dumps(turn)}\n" for turn in turns)
        (sessions / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    search = {"sources": ["memory", "sessions"], "experimental": {"sessionMemory": True}}
    settings = {"agents": {"defaults": {"memorySearch": search}}}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")


def notes(chance: random.Random) -> dict[str, str]:
    texts = {"MEMORY.md": "# Facts\n\n- The backup runs at three in the morning.\n"}
    for back in range(320):
        day = LAST_DAY - timedelta(back)
        if chance.random() < 0.62:
            subjects = chance.sample(list(SUBJECTS), chance.randint(1, 3))
            sections = "\n".join(section(chance, subject) for subject in subjects)
            texts[f"memory/{day}.md"] = f"# {day}\n\n{sections}"
    for subject, things in SUBJECTS.items():
        for thing in things:
            for kind in ("log", "parts", "checklist"):
                name = f"{thing.lower().replace(' ', '-')}-{kind}.md"
                lines = "".join(f"- {fact(chance, subject)}\n" for _ in range(7))
                text = f"# {thing}: {kind}\n\n{lines}\n## Why\n\n{chance.choice(WHY)}\n"
                texts[f"memory/reference/{subject}/{name}"] = text
    return texts


def section(chance: random.Random, subject: str) -> str:
    lines = "".join(f"- {fact(chance, subject)}\n" for _ in range(chance.randint(2, 5)))
    return f"## {subject.title()}\n\n{lines}"


def fact(chance: random.Random, subject: str) -> str:
    text = chance.choice(FACTS[subject]).format(n=chance.randint(2, 90))
    return f"{chance.choice(SUBJECTS[subject])} {text}."


def conversations() -> dict[str, list[dict[str, object]]]:
    talk = (
        ("user", f"Please use the key {SECRET} for the solar gateway."),
        ("assistant", "I do not store keys. The gateway reports every minute; shall I log that?"),
        ("user", "Yes. And remind me why string B is weaker than string A."),
        ("assistant", "The chimney shades it from two to four. We decided to move one panel."),
    )
    # The oldest first: the list of sessions is sorted by the time of the last write.
    named = {"2026-10-30-chain": talk[2:], "2026-11-12-bread": talk[2:], SESSION: talk}
    return {name: [turn(*said, name[:10]) for said in turns] for name, turns in named.items()}


def turn(role: str, text: str, day: str) -> dict[str, object]:
    message = {"role": role, "content": text}
    return {"type": "message", "timestamp": f"{day}T10:00:00Z", "message": message}


def search_as_an_agent(service: Service) -> None:
    """Fills the view of recalls."""
    token = service.token("agent", "append")
    for query in (
        "how wet should the sourdough be",
        "why is string B weaker",
        "when was the rear wheel trued",
        "which channel does the access point use",
    ):
        service.ask("POST", "/v1/search", token, {"query": query, "maxResults": 3})


def shoot(page: Page, name: str) -> None:
    page.wait_for_timeout(600)  # Fonts and the fade of the skeleton.
    page.screenshot(path=PICTURES / f"{name}.png")


def take_all(visit: Visit, path: str) -> None:
    query = "how%20wet%20should%20the%20sourdough%20be"

    def take(name: str, view: str, width: int, height: int, *, dark: bool = False) -> Page:
        options: dict[str, Any] = {"viewport": {"width": width, "height": height}}
        page = visit.page(view, **options)
        theme(page, "dark" if dark else "light")
        page.mouse.move(0, 0)
        if name:
            shoot(page, name)
        return page

    take("search", f"search?q={query}", 1280, 800)
    take("compare", f"search?q={query}&compare=1&b.vectorWeight=0.2&b.mmrLambda=0.5", 1280, 860)
    page = take("", f"notes/{path}?line=2", 1280, 640)
    page.keyboard.press("v")
    shoot(page, "note")
    take("notes", "notes", 1280, 800)
    take("timeline", "timeline", 1280, 720)
    take("session", f"sessions/{SESSION}", 1280, 720)
    take("health-dark", "health", 1280, 720, dark=True)
    take("search-narrow", f"search?q={query}", 360, 740)
    take("notes-narrow", "notes", 360, 740, dark=True)
    page = take("", "map", 1280, 800)
    page.locator("canvas").wait_for()
    page.locator("#map-query").fill("bread in a hot oven")
    page.wait_for_timeout(2500)
    page.get_by_role("button", name="Show the whole map").click()
    page.mouse.move(0, 0)
    shoot(page, "map")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "demo")
        folder.mkdir()
        make_memory(folder)
        with Service(folder) as service, sync_playwright() as playwright:
            owner = service.token("owner", "admin")
            service.ask("POST", "/v1/sync?wait=300", owner, {})
            path = service.append("The gateway reports every minute; the log is kept for a year.")
            service.append(
                "String B is weaker than string A: the chimney shades it in the afternoon."
            )
            search_as_an_agent(service)
            service.ask("POST", "/v1/sync?wait=300", owner, {})
            browser = playwright.chromium.launch(executable_path=CHROMIUM)
            with Visit(service, browser) as visit:
                take_all(visit, path)
            browser.close()


if __name__ == "__main__":
    main()

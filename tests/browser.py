"""A real browser for the pages: Chromium without a window, told to stay off the network."""

import json
import os
import shutil
from pathlib import Path

import pytest

AXE = Path(__file__).parents[1] / ".axe" / "axe.min.js"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


class Browser:
    """Opens pages; knows what they wrote to the console and what they asked the network for."""

    def __init__(self, folder):
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in (*FLAGS, f"--user-data-dir={folder}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_script_timeout(60)

    def open(self, path, *, width=1400, script=True):
        """Open a page and wait until its charts are drawn."""
        from selenium.webdriver.support.ui import WebDriverWait

        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})
        self.driver.get("about:blank")
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.set_window_size(width, 900)
        self.driver.get(path.as_uri())
        if script:
            WebDriverWait(self.driver, 30).until(
                lambda driver: driver.execute_script("return typeof gradely") == "object"
            )
            self.settle()

    def settle(self):
        """Wait until all charts are drawn and the browser has painted."""
        self.wait(
            "Promise.all([...document.querySelectorAll('[data-chart]')].map((e) => gradely.view(e.dataset.chart)))"
            ".then((views) => Promise.all(views.map((view) => view.runAsync())))"
            ".then(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))))"
        )

    def wait(self, promise):
        """Wait for a promise of the page; fail with what it fails with."""
        failed = self.driver.execute_async_script(
            f"const done = arguments[0]; Promise.resolve({promise}).then(() => done(null), (e) => done(String(e)))"
        )
        assert failed is None, failed

    def ask(self, expression, *arguments):
        """Return the value of an expression in the page."""
        return self.driver.execute_script(f"return {expression}", *arguments)

    def console(self):
        """Return what was written to the console since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Return all addresses that were asked for since the page was opened, but the page itself."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [each["params"] for each in messages if each["method"] == "Network.requestWillBeSent"]
        page = self.driver.current_url
        return [each["request"]["url"] for each in sent if each["documentURL"] == page != each["request"]["url"]]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One browser for all tests of a process."""
    absent = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    if absent and os.environ.get("CI") != "true":
        pytest.skip(f"no {' and no '.join(absent)} here: apt-get install chromium chromium-driver")
    opened = Browser(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.driver.quit()


def violations(opened):
    """Return what axe-core finds on the open page, with everything unfolded."""
    if not AXE.exists() and os.environ.get("CI") != "true":
        pytest.skip("no axe-core here: .ci/axe fetches it from npm")
    opened.driver.execute_script("document.querySelectorAll('details').forEach((node) => (node.open = true))")
    opened.driver.execute_script(AXE.read_text(encoding="utf-8"))
    found = opened.driver.execute_async_script(
        "const done = arguments[0]; axe.run({preload: false, resultTypes: ['violations']})"
        ".then((r) => done(r.violations), (e) => done([String(e)]))"
    )
    return [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found]

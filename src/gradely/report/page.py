"""The base of every page: one HTML file with its styles, its data and its script, and no way to the network.

A page is a Jinja template that extends `page.html`, the charts it shows by name, and data for its own script.
"""

import base64
import hashlib
import json
import math
import platform
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from gradely import __version__
from gradely.comparison.charts import PALETTE
from gradely.evaluation.result import replace_infinite
from gradely.lazy import altair, converter, optional
from gradely.tables import format_p, plain_line

LONGEST_ID = 120
"""ids longer than this are cut where they are shown"""
INHERITED = (
    *("__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString"),
    *("toString", "valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
)
"""what every object of JavaScript has: as the name of a group it would be taken for one that is there already"""
JOINER = "\u2060"
"""takes no room, and makes another name of one that is inherited"""
SEPARATORS = re.compile(r"(?<=[_\-./:])(?=[^_\-./:])")
"""where a name may break"""
UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def as_json(value: Any) -> str:
    r"""Return JSON that may stand in a script element: nothing in it can end the element or begin a comment.

    All that is not ASCII is escaped, U+2028 and lone surrogates included. Numbers that JSON does not have become null.

    >>> print(as_json(["</script>", "\u2028", float("inf")]))
    ["\u003c/script\u003e","\u2028",null]
    """
    return json.dumps(replace_infinite(value), separators=(",", ":"), allow_nan=False).translate(UNSAFE)


def cut(text: str, longest: int = LONGEST_ID) -> str:
    """Return the text as a page shows it: cut where it is very long, without marks that steer the direction of text."""
    return plain_line(text if len(text) <= longest else text[:longest] + "…")


def breakable(text: str) -> Any:
    """Return a name as HTML that may break after a separator, where a word ends, rather than inside of a word.

    >>> print(breakable("bm25__rm3.run<"))
    bm25__<wbr>rm3.<wbr>run&lt;
    """
    from markupsafe import Markup

    return Markup("<wbr>").join(SEPARATORS.split(text))


def as_sentence(text: str) -> str:
    """Return a text with a capital letter at its beginning and a full stop at its end.

    >>> as_sentence("means over 24 queries"), as_sentence("Data: 24 queries.")
    ('Means over 24 queries.', 'Data: 24 queries.')
    """
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '…')) else '.'}"


def labels(names: Iterable[str]) -> list[str]:
    """Return names cut to a length that can be shown; those that look the same then are numbered.

    >>> [each[-4:] for each in labels(["a" * 200, "a" * 300, "b"])]
    ['… #1', '… #2', 'b']
    """
    names_shown = [JOINER + name if name in INHERITED else name for name in map(cut, names)]
    count = Counter(names_shown)
    return [f"{name} #{i}" if count[name] > 1 else name for i, name in enumerate(names_shown, 1)]


def format_fixed(value: float, digits: int = 4) -> str:
    """Return a number with that many decimals and the minus sign of print; nothing is minus zero.

    >>> format_fixed(-0.25, 2), format_fixed(-0.00001)
    ('−0.25', '0.0000')
    """
    text = f"{abs(value):.{digits}f}"
    return f"−{text}" if value < 0 and float(text) else text


def format_signed(value: float) -> str:
    """Return a number with its sign, if it has one where it is printed.

    >>> format_signed(0.5), format_signed(-0.25), format_signed(-1e-17)
    ('+0.5000', '−0.2500', '0.0000')
    """
    text = format_fixed(value)
    return f"+{text}" if value > 0 and float(text) else text


def effect_text(value: float) -> str:
    """Return an effect size, which is infinite where the difference is the same on every query."""
    return format_fixed(value, 2) if math.isfinite(value) else "−∞" if value < 0 else "∞"


__all__ = ["Chart", "altair", "chart", "check_installed", "policy", "render", "source"]

INK = "currentColor"
"""the colour of the page's text, so that charts follow light and dark by themselves"""
CONFIG = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "range": {"category": list(PALETTE)},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "domainColor": INK,
        "tickColor": INK,
        "gridColor": INK,
        "domainOpacity": 0.4,
        "tickOpacity": 0.4,
        "gridOpacity": 0.12,
        "labelLimit": 160,
    },
    "legend": {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal", "labelLimit": 200},
    "header": {"labelColor": INK, "titleColor": INK},
    "title": {"color": INK},
    "text": {"color": INK},
    "rule": {"color": INK},
}
STILL_WIDTH = 640


class Chart(NamedTuple):
    """A Vega-Lite chart: its specification, what it shows in words, and how it looks where script is off."""

    spec: dict[str, Any]
    alt: str
    still: str = ""


def chart(drawing: Any, alt: str, *, still: bool = False) -> Chart:
    """Return an Altair chart for a page; `still` draws it as SVG, too, for readers without script.

    A width of "container" fits the screen; then give the height as a number, or Vega-Lite warns in the console.
    """
    spec = drawing.to_dict()
    spec.pop("config", None)
    return Chart(spec, alt, _svg(spec) if still else "")


def render(
    template: str,
    *,
    title: str,
    charts: Mapping[str, Chart] | None = None,
    data: Any = None,
    script: str = "",
    package: str = "gradely.report",
    **context: Any,
) -> str:
    """Return the page that a template of `package`/templates makes; `script` runs after the charts are known.

    In the template `{{ chart("name") }}` is the place of a chart. The script finds `data` as `gradely.data`; it gives a
    chart whose data is named "rows" other ones with `gradely.feed("name", rows)`, and finds its view, once the document
    is there, as `gradely.view("name")`, a promise.
    """
    charts = charts or {}
    environment = _environment(package)
    scripts = [bundle(), source("page.js"), *([script] if script else [])] if charts or script else []
    style = source("page.css")
    page: str = environment.get_template(template).render(
        title=title,
        version=__version__,
        style=_markup(style),
        policy=policy(scripts, style),
        scripts=[_markup(item) for item in scripts],
        specs=_markup(as_json({"config": CONFIG, "charts": {name: item.spec for name, item in charts.items()}})),
        data=_markup(as_json(data)),
        chart=lambda name: environment.get_template("chart.html").module.figure(name, charts[name]),
        **context,
    )
    return page.encode("utf-8", "replace").decode()


def check_installed() -> None:
    """Raise now, before long work, where a library that pages need is absent."""
    altair()
    converter()
    optional("jinja2", "Jinja", "report")


def versions() -> dict[str, str]:
    """Return what computed the page, with versions."""
    return {"gradely": __version__, "Python": platform.python_version(), "NumPy": np.__version__}


def policy(scripts: list[str], style: str) -> str:
    """Return the content-security policy: these scripts and this style, told by their hashes, and nothing else."""
    allowed = " ".join(_hash(script) for script in scripts) or "'none'"
    return f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def source(name: str) -> str:
    """Return the text of a file beside the templates."""
    return (files("gradely.report") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _environment(package: str) -> Any:
    jinja = optional("jinja2", "Jinja", "report")
    loader = jinja.ChoiceLoader([jinja.PackageLoader(name) for name in dict.fromkeys([package, "gradely.report"])])
    environment = jinja.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja.StrictUndefined
    )
    environment.filters.update(
        breakable=breakable,
        clipped=cut,
        sentence=as_sentence,
        fixed=format_fixed,
        signed=format_signed,
        effect=effect_text,
        p_value=format_p,
    )
    return environment


def _markup(text: str) -> Any:
    from markupsafe import Markup

    # our own files, and JSON with its angle brackets escaped
    return Markup(text)  # noqa: S704 # nosec B704


@cache
def bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; nothing in it may end the script element."""
    text: str = converter().javascript_bundle()
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r", "")


def _svg(spec: dict[str, Any]) -> str:
    wide = spec | ({"width": STILL_WIDTH} if spec.get("width") == "container" else {})
    text: str = converter().vegalite_to_svg(wide, config=CONFIG)
    return text

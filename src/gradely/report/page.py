"""The base of every page: one HTML file with styles, data and scripts, which cannot access the network.

A page consists of a Jinja template that extends `page.html`, named charts, and data for its script.
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

INHERITED = (
    *("__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString"),
    *("toString", "valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
)
"""properties that every JavaScript object has; Vega would take a group with such a name for an existing one"""
JOINER = "\u2060"
"""an invisible character that turns an inherited name into another name"""
SEPARATORS = re.compile(r"(?<=[^\s(+−][_\-./:])(?<!\d\.(?=\d))(?=[^_\-./:])")
"""the places where a line may break within a name, but not within a number"""
UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def as_json(value: Any) -> str:
    r"""Return JSON for a script element: nothing in it can end the element or begin a comment.

    All characters but ASCII are escaped, including U+2028 and lone surrogates. Infinities and NaN become null.

    >>> print(as_json(["</script>", "\u2028", float("inf")]))
    ["\u003c/script\u003e","\u2028",null]
    """
    return json.dumps(replace_infinite(value), separators=(",", ":"), allow_nan=False).translate(UNSAFE)


def cut(text: str, longest: int = 120) -> str:
    """Return text for a page: shortened if it is very long, and without control characters such as text direction."""
    return plain_line(text if len(text) <= longest else text[:longest] + "…")


def breakable(text: str) -> Any:
    """Return a name as HTML in which a line may break after separators rather than within words.

    >>> print(breakable("bm25__rm3.run<"))
    bm25__<wbr>rm3.<wbr>run&lt;
    >>> print(breakable("p .96, interval −.060 … +.063 of 0.5"))
    p .96, interval −.060 … +.063 of 0.5
    """
    from markupsafe import Markup

    return Markup("<wbr>").join(SEPARATORS.split(text))


def as_sentence(text: str) -> str:
    """Return a text that begins with a capital letter and ends with a full stop.

    >>> as_sentence("means over 24 queries"), as_sentence("Data: 24 queries.")
    ('Means over 24 queries.', 'Data: 24 queries.')
    """
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '…')) else '.'}"


def labels(names: Iterable[str]) -> list[str]:
    """Return names shortened for display; names that look the same afterwards are numbered.

    >>> [name[-4:] for name in labels(["a" * 200, "a" * 300, "b"])]
    ['… #1', '… #2', 'b']
    """
    names_shown = [JOINER + name if name in INHERITED else name for name in map(cut, names)]
    count = Counter(names_shown)
    return [f"{name} #{i}" if count[name] > 1 else name for i, name in enumerate(names_shown, 1)]


def format_fixed(value: float, digits: int = 4) -> str:
    """Return a number with this many decimals and a typographic minus sign; zero has no sign.

    >>> format_fixed(-0.25, 2), format_fixed(-0.00001)
    ('−0.25', '0.0000')
    """
    text = f"{abs(value):.{digits}f}"
    return f"−{text}" if value < 0 and float(text) else text


def format_signed(value: float) -> str:
    """Return a number with its sign, unless it is printed as zero.

    >>> format_signed(0.5), format_signed(-0.25), format_signed(-1e-17)
    ('+0.5000', '−0.2500', '0.0000')
    """
    text = format_fixed(value)
    return f"+{text}" if value > 0 and float(text) else text


def effect_text(value: float) -> str:
    """Return an effect size, which is infinite if the difference is the same on every query."""
    return format_fixed(value, 2) if math.isfinite(value) else "−∞" if value < 0 else "∞"


__all__ = ["Chart", "altair", "chart", "check_installed", "policy", "render", "source"]

INK = "currentColor"
"""the text colour of the page, which makes charts follow light and dark mode"""
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


class Chart(NamedTuple):
    """A Vega-Lite chart: its specification, its description, and an SVG for readers without JavaScript."""

    spec: dict[str, Any]
    alt: str
    still: str = ""


def chart(drawing: Any, alt: str, *, still: bool = False) -> Chart:
    """Return an Altair chart for a page; `still` also draws it as SVG for readers without JavaScript.

    A width of "container" fits the screen, and needs a height in pixels: otherwise, Vega-Lite warns in the console.
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
    """Render a template of `package`/templates as a page; `script` runs after the charts are defined.

    In the template, `{{ chart("name") }}` inserts a chart. In the script, `gradely.data` is `data`;
    `gradely.feed("name", rows)` replaces the rows of a chart whose data is named "rows"; and `gradely.view("name")` is
    a promise of its Vega view, which resolves after the document is loaded.
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
    """Raise MissingExtra, before any long work, if a library that pages need is not installed."""
    altair()
    converter()
    optional("jinja2", "Jinja", "report")


def versions() -> dict[str, str]:
    """Return the versions of gradely, Python and NumPy."""
    return {"gradely": __version__, "Python": platform.python_version(), "NumPy": np.__version__}


def policy(scripts: list[str], style: str) -> str:
    """Return a content security policy that allows only these scripts and this style, by their hashes."""
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
    """Return Vega, Vega-Lite and Vega-Embed as one script, escaped for a script element."""
    text: str = converter().javascript_bundle()
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r", "")


def _svg(spec: dict[str, Any]) -> str:
    wide = spec | ({"width": 640} if spec.get("width") == "container" else {})
    text: str = converter().vegalite_to_svg(wide, config=CONFIG)
    return text

"""A page per question, so a search leads to the answer instead of a list."""

import re

from tools.site.sources import LINK

PLACE = "reference/faq.md"


def pages(text: str) -> dict[str, str]:
    r"""Return the page of each question, and the list of all, by place on the site.

    >>> found = pages("# Questions\n\n## Why 1.0?\n\nSee [ties](../ties.md).\n")
    >>> found["reference/faq/why-1-0.md"]
    '# Why 1.0?\n\nSee [ties](../../ties.md).\n'
    """
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    found, listed, tree = {}, "", ""
    for section in sections:
        title, _, answer = section.partition("\n")
        name = "faq/" + re.sub(r"[^a-z0-9_]+", "-", title.lower()).strip("-")
        found[f"reference/{name}.md"] = f"# {title}\n{LINK.sub(_one_folder_up, answer)}"
        listed += f"- [{title}]({name}.md)\n"
        tree += f"{name}\n"
    return found | {PLACE: f"{head}{listed}\n```{{toctree}}\n:hidden:\n\n{tree}```\n"}


def _one_folder_up(link: re.Match[str]) -> str:
    return link[0] if "://" in link[2] else f"{link[1]}../{link[2]}{link[3]}"

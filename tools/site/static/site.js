// Regions that scroll can be reached by keyboard, and the search finds something where no page has all words.
"use strict";
var gradely = {}; // what the figures of a page offer to tests
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "object") Search.performTermsSearch = relaxed(Search.performTermsSearch);
  for (const region of document.querySelectorAll("div.highlight pre, .table-wrapper, .formula"))
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
});

// Sphinx finds pages that have all words. Where there is none, those with the most of them are better than nothing.
function relaxed(search) {
  return (words, excluded) => {
    const known = [...words].filter((word) => search(new Set([word]), new Set()).length);
    for (let size = known.length; size > 0; size--) {
      const found = subsets(known, size).flatMap((some) => search(new Set(some), excluded));
      if (found.length) return found;
    }
    return [];
  };
}

function subsets(words, size) {
  if (size === 0) return [[]];
  return words.flatMap((word, i) => subsets(words.slice(i + 1), size - 1).map((rest) => [word, ...rest]));
}

// What the search puts first: titles that hold the words as they were typed, then pages that answer one question, then those
// that explain, then those that list.
var Scorer = {
  score: ([page, _title, _anchor, _about, score, _file, kind]) => {
    const lists = /^(reference\/(commands|python)|inside)\//.test(page);
    const explains = /^(start|guides|understand|coming-from)\/|^reference\/(faq|measures)/.test(page);
    const answers = /^reference\/faq\//.test(page);
    return score + (kind === "title" ? 20 : 0) + (explains ? 5 : 0) + (answers && kind !== "title" ? 10 : 0) - (lists ? 5 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

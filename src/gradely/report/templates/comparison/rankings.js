// The top of a ranking, with labels, texts, and where another run has the same document.
const ranksOf = (run, query) => {
  const top = rankings.tops[run]?.[query];
  if (!top) return [];
  const [documents, sizes] = top;
  let above = 0;
  const ranks = (sizes || documents.map(() => 1)).flatMap((size) => {
    const [from, to] = [above + 1, above + size];
    above += size;
    return Array.from({ length: size }, () => ({ text: size > 1 ? `${from}–${to}` : `${from}`, mean: (from + to) / 2 }));
  });
  return documents.map((doc, i) => ({ doc, ...ranks[i] }));
};

const gradeText = (grade) => (grade === null ? "–" : fixed(grade, 6).replace(/\.?0+$/, ""));

const documentCell = (query, doc) => {
  const text = board.document_texts?.[query]?.[doc];
  const name = button(bdi(rankings.documents[query][doc]), () => pin(doc), { "aria-pressed": pinned === doc });
  return element("td", text ? [name, element("small", bdi(text), { class: "text" })] : name);
};

// Below the top of a ranking, the ranks of judged documents are known; of others only that they are not in the top.
const missingRank = (run, query, doc, others) => {
  const rank = rankings.below?.[run][query][doc];
  if (rank) return rank;
  if (others.length < rankings.depth || (rankings.below && doc in rankings.grades[query])) return "not retrieved";
  return `not in the top ${rankings.depth}`;
};

// Where the other run has a document, and how many places higher (▲) or lower (▼) this run has it.
const otherRank = (mine, other, others, compared, query) => {
  if (!other) return element("td", missingRank(compared, query, mine.doc, others), { class: "moved" });
  const moved = other.mean - mine.mean;
  const places = fixed(Math.abs(moved), 1).replace(".0", "");
  const arrow = moved === 0 ? "=" : `${moved > 0 ? "▲" : "▼"} ${places}`;
  return element("td", [other.text, " ", element("span", arrow, { class: moved > 0 ? "up" : moved < 0 ? "down" : "" })], { class: "moved" });
};

const rankingRows = (run, query, compared = null) => {
  const mine = ranksOf(run, query);
  const others = compared === null ? [] : ranksOf(compared, query);
  const byDocument = new Map(others.map((rank) => [rank.doc, rank]));
  if (!mine.length) return [row(element("td", "No results.", { colspan: compared === null ? 3 : 4 }))];
  return mine.map((rank) => {
    const grade = rankings.grades[query][rank.doc] ?? null;
    const cells = [element("td", rank.text), documentCell(query, rank.doc), number(gradeText(grade), grade ?? "")];
    if (compared !== null) cells.push(otherRank(rank, byDocument.get(rank.doc), others, compared, query));
    const line = row(...cells);
    line.dataset.doc = rank.doc;
    line.classList.toggle("relevant", grade > 0);
    if (compared !== null) line.addEventListener("mouseenter", () => highlight(rank.doc));
    if (compared !== null) line.addEventListener("mouseleave", () => highlight(pinned));
    return line;
  });
};

// The same document in both rankings: lit while the mouse is over it, or until its name is pressed again.
let pinned = null;
const highlight = (doc) =>
  document.querySelectorAll("#ranking tbody tr").forEach((line) => line.classList.toggle("same", line.dataset.doc === String(doc)));
const pin = (doc) => {
  pinned = pinned === doc ? null : doc;
  document.querySelectorAll("#ranking tbody tr").forEach((line) =>
    line.querySelector("button")?.setAttribute("aria-pressed", line.dataset.doc === String(pinned)),
  );
  highlight(pinned);
};

const queryHeading = (query) => {
  const text = board.query_texts?.[query];
  return ["Query ", bdi(queries[query]), ...(text ? [": ", bdi(text)] : [])];
};

// Two runs: the numbers by every measure, the difference on every query, both rankings of one query.
const intervalCell = (pair) => (pair.low === null ? number("–", "") : number(`${signed(pair.low)} to ${signed(pair.high)}`, pair.low));
const chanceText = (x) => (x < 0 ? "–" : `${fixed(100 * x, 0)} %`);

const testCells = (pair) => {
  if (pair.status !== "tested") return [number(pair.status, ""), number(pair.status, "")];
  const text = pText(pair.adjusted);
  return [number(pText(pair.p), pair.p), number(isSure(pair) ? element("strong", text) : text, pair.adjusted)];
};

const equivalenceCells = (pair) => {
  if (board.rope === null) return [];
  const known = pair.equivalence;
  if (!known) return [number("–", ""), number("–", "")];
  const verdict = `${known.equivalent ? "yes" : "no"}, p ${pText(known.p)}`;
  return [number(verdict, known.p), number([known.better, known.equal, known.worse].map(chanceText).join(" / "))];
};

const pairRow = (m) => {
  const [x, y] = [board.mean[m][state.first], board.mean[m][state.second]];
  const pair = describePair(m, state.first, state.second);
  const lacking = pair.wins === null;
  return row(
    element("th", measures[m], { scope: "row" }), number(fixed(x), x), number(fixed(y), y), number(signed(x - y), x - y),
    intervalCell(pair),
    number(lacking ? "–" : effectText(pair.effect), lacking ? "" : pair.effect),
    number(lacking ? "–" : `${pair.wins} / ${pair.ties} / ${pair.losses}`, pair.wins ?? ""),
    ...testCells(pair), ...equivalenceCells(pair),
  );
};

const turningText = (pair) => {
  if (pair.turning === null) return [];
  const [many, ...first] = pair.turning;
  if (!many) return [" Leaving out any single query does not change this verdict."];
  const names = first.flatMap((i) => [" ", bdi(queries[i])]);
  return [` The verdict changes without ${many === 1 ? "the query" : `any one of these ${many} queries:`}`, ...names, many > first.length ? " …" : "."];
};

const showPair = () => {
  get("pair").tBodies[0].replaceChildren(...measures.map((_, m) => pairRow(m)));
  const same = state.first === state.second;
  const pair = describePair(state.measure, state.first, state.second);
  fill("pair-answer", same ? ["Choose two different runs."] : [...sentence(state.measure, state.first, state.second), ...turningText(pair)]);
};

const byQuery = () => {
  const [x, y] = [values[state.measure][state.first], values[state.measure][state.second]];
  const rows = queries.map((query, index) => ({ query, index, first: x[index], second: y[index], difference: x[index] - y[index] }));
  rows.sort((a, b) => b.difference - a.difference || a.index - b.index);
  const chosen = state.query ?? rows[0].index;
  return rows.map((line, place) => ({ ...line, place, chosen: line.index === chosen, text: board.query_texts?.[line.index] ?? "" }));
};

const queryCell = (index, chosen, action) => {
  const text = board.query_texts?.[index];
  const name = button(bdi(queries[index]), action, { "aria-pressed": chosen });
  return element("th", text ? [name, element("small", bdi(text), { class: "text" })] : name, { scope: "row", "data-value": queries[index] });
};

const showQueries = () => {
  const rows = byQuery();
  gradely.feed("differences", rows);
  const lines = rows.map((line) => {
    const cells = [line.first, line.second].map((x) => number(fixed(x), x));
    const node = row(queryCell(line.index, line.chosen, () => change({ query: line.index })), ...cells, number(signed(line.difference), line.difference));
    node.classList.toggle("chosen", line.chosen);
    return node;
  });
  keepFocus("queries", () => get("queries").tBodies[0].replaceChildren(...lines));
  [...get("queries").tHead.rows[0].cells].forEach((head) => head.removeAttribute("aria-sort"));
  return rows.find((line) => line.chosen).index;
};

// A table is written anew when one of its buttons is pressed: the focus stays where it was.
const keepFocus = (id, write) => {
  const place = document.activeElement?.closest?.(`#${id} tbody tr`)?.querySelector("button")?.textContent;
  write();
  if (place) [...document.querySelectorAll(`#${id} tbody button`)].find((node) => node.textContent === place)?.focus({ preventScroll: true });
};

const showTwoRuns = () => {
  document.querySelectorAll("[data-name]").forEach((node) => node.replaceChildren(bdi(runs[state[node.dataset.name]])));
  showPair();
  const query = showQueries();
  if (!get("ranking")) return;
  pinned = null;
  fill("query-name", queryHeading(query));
  fill("first-ranking", rankingRows(state.first, query, state.second));
  fill("second-ranking", rankingRows(state.second, query, state.first));
};

// One run: its queries, worst first, and the ranking of one of them.
const showOneRun = () => {
  const [m, run] = [state.measure, state.run];
  const [median, best] = board.spread[m];
  const rows = queries.map((_, index) => ({ index, value: values[m][run][index] }));
  rows.sort((a, b) => a.value - b.value || a.index - b.index);
  const chosen = state.run_query ?? rows[0].index;
  const lines = rows.map(({ index, value }) => {
    const cells = [value, median[index], best[index]].map((x) => number(fixed(x), x));
    const node = row(queryCell(index, index === chosen, () => change({ run_query: index })), ...cells, number(signed(value - median[index]), value - median[index]));
    node.classList.toggle("chosen", index === chosen);
    return node;
  });
  keepFocus("worst", () => get("worst").tBodies[0].replaceChildren(...lines));
  [...get("worst").tHead.rows[0].cells].forEach((head) => head.removeAttribute("aria-sort"));
  if (!get("one-ranking")) return;
  fill("run-query-name", queryHeading(chosen));
  fill("one-ranking", rankingRows(run, chosen));
};

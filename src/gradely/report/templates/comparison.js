"use strict";
// Two runs are chosen, a measure and a query; everything below the leaderboard follows.
(() => {
  const { runs, measures, queries, values, pairs, rankings, cuts, curves, start, ...board } = gradely.data;
  const get = (id) => document.getElementById(id);
  const state = { measure: 0, first: start[0], second: start[1], query: null };
  const several = runs.length > 1;
  const fixed = (x) => x.toFixed(4);
  const minus = (x) => (x === null ? null : -x);
  const signed = (x) => (x < 0 ? "−" : "+") + fixed(Math.abs(x));

  // Text only ever becomes text: no markup is made from names.
  const element = (tag, content, attributes = {}) => {
    const made = document.createElement(tag);
    made.append(...[content].flat());
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };
  const bdi = (text) => element("bdi", text);
  const number = (text, value = text) => element("td", text, { class: "number", "data-value": value });
  const row = (...cells) => element("tr", cells);

  const choose = (select, names, key) => {
    names.forEach((name, i) => select.append(element("option", name, { value: i })));
    select.value = state[key];
    select.addEventListener("change", () => {
      state[key] = Number(select.value);
      update();
    });
  };

  const showLeaderboard = () => {
    const m = state.measure;
    const rows = runs.map((run, s) => ({
      run, mean: board.mean[m][s], low: board.low[m][s], high: board.high[m][s], worst: board.worst[m][s], best: board.best[m][s],
    }));
    rows.sort((a, b) => b.mean - a.mean);
    gradely.feed("leaderboard", rows.slice(0, board.bars));
  };

  const pairIndex = new Map(pairs.first.map((a, i) => [`${a} ${pairs.second[i]}`, i]));
  const aboutPair = (m) => {
    const straight = pairIndex.get(`${state.first} ${state.second}`);
    const turned = pairIndex.get(`${state.second} ${state.first}`);
    if (!pairs.numbers[m] || (straight ?? turned) === undefined) return null;
    const [low, high, effect, wins, losses, p, adjusted] = pairs.numbers[m].map((column) => column[straight ?? turned]);
    return straight === undefined
      ? { low: minus(high), high: minus(low), effect: minus(effect), wins: losses, losses: wins, p, adjusted }
      : { low, high, effect, wins, losses, p, adjusted };
  };

  const showPair = () => {
    const rows = measures.map((measure, m) => {
      const [x, y] = [board.mean[m][state.first], board.mean[m][state.second]];
      const found = aboutPair(m);
      const ties = found && board.topics - found.wins - found.losses;
      const tested = found
        ? [
            number(found.low === null ? "–" : `${signed(found.low)} to ${signed(found.high)}`),
            number(found.effect === null ? "∞" : found.effect.toFixed(2)),
            number(`${found.wins} / ${ties} / ${found.losses}`),
            number(String(found.p)),
            number(found.adjusted < board.alpha ? element("strong", String(found.adjusted)) : String(found.adjusted)),
          ]
        : Array.from({ length: 5 }, () => number("not tested"));
      return row(element("th", measure, { scope: "row" }), number(fixed(x)), number(fixed(y)), number(signed(x - y)), ...tested);
    });
    get("pair").tBodies[0].replaceChildren(...rows);
  };

  const byQuery = () => {
    const [x, y] = [values[state.measure][state.first], values[state.measure][state.second]];
    const rows = queries.map((query, i) => ({ query, index: i, first: x[i], second: y[i], difference: x[i] - y[i], chosen: i === state.query }));
    return rows.sort((a, b) => b.difference - a.difference);
  };

  const showQueries = () => {
    const rows = byQuery();
    gradely.feed("differences", rows);
    const lines = rows.map((each) => {
      const button = element("button", bdi(each.query), { type: "button", "aria-pressed": each.chosen });
      button.addEventListener("click", () => showQuery(each.index));
      const line = row(
        element("th", button, { scope: "row", "data-value": each.query }), number(fixed(each.first)), number(fixed(each.second)), number(signed(each.difference), each.difference),
      );
      line.dataset.query = each.index;
      line.classList.toggle("chosen", each.chosen);
      return line;
    });
    get("queries").tBodies[0].replaceChildren(...lines);
    [...get("queries").tHead.rows[0].cells].forEach((head) => head.removeAttribute("aria-sort"));
  };

  const ranking = (run) => {
    const top = rankings.tops[run][state.query];
    if (!top) return [row(element("td", "No results.", { colspan: 3 }))];
    const [documents, sizes] = top;
    const groups = sizes || documents.map(() => 1);
    const ranks = [];
    let above = 0;
    groups.forEach((size) => {
      for (let i = 0; i < size; i++) ranks.push(size > 1 ? `${above + 1}–${above + size}` : `${above + 1}`);
      above += size;
    });
    return documents.map((doc, i) => {
      const grade = rankings.grades[state.query][doc];
      const line = row(element("td", ranks[i]), element("td", bdi(rankings.documents[state.query][doc])), number(grade === null ? "–" : String(grade)));
      line.classList.toggle("relevant", grade > 0);
      return line;
    });
  };

  const showRanking = () => {
    if (!get("ranking")) return;
    get("query-name").replaceChildren("Query ", bdi(queries[state.query]));
    ["first", "second"].forEach((key) => {
      get(`${key}-name`).replaceChildren(bdi(runs[state[key]]));
      get(`${key}-ranking`).replaceChildren(...ranking(state[key]));
    });
  };

  const showQuery = (index) => {
    state.query = index;
    document.querySelectorAll("#queries tbody tr").forEach((line) => {
      const chosen = Number(line.dataset.query) === index;
      line.classList.toggle("chosen", chosen);
      line.querySelector("button").setAttribute("aria-pressed", chosen);
    });
    gradely.feed("differences", byQuery());
    showRanking();
    get("query-name")?.scrollIntoView({ block: "nearest" });
  };

  const showCurves = () => {
    const role = (s) => (s === state.first ? "first" : s === state.second ? "second" : "other");
    const shown = runs.map((_, s) => s).filter((s) => s < board.greys || role(s) !== "other");
    const rows = shown.flatMap((s) =>
      cuts.map((cut, i) => ({ run: runs[s], role: role(s), cut, precision: curves[s][0][i], recall: curves[s][1][i], nDCG: curves[s][2][i] })),
    );
    ["first", "second"].forEach((key) => get(`${key}-colour`)?.replaceChildren(bdi(runs[state[key]])));
    gradely.feed("precision", rows);
    gradely.feed("gain", rows);
  };

  const update = () => {
    get("measure").value = state.measure;
    if (get("measure-again")) get("measure-again").value = state.measure;
    showLeaderboard();
    showCurves();
    if (!several) return;
    showPair();
    showQueries();
    showRanking();
  };

  choose(get("measure"), measures, "measure");
  if (several) {
    choose(get("measure-again"), measures, "measure");
    choose(get("first"), runs, "first");
    choose(get("second"), runs, "second");
    state.query = byQuery()[0].index;
    const listen = (view) => view.addEventListener("click", (_, item) => item?.datum?.query && showQuery(item.datum.index));
    document.addEventListener("DOMContentLoaded", () => gradely.view("differences").then(listen));
  }
  update();
})();

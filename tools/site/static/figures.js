// Two figures to play with: a ranking whose documents can be moved, tied and relabelled, and a triangle of users.
// The measures are computed here, exactly as gradely computes them; tests compare both on random rankings.
"use strict";

(() => {
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
      name.startsWith("on") ? node.addEventListener(name.slice(2), value) : node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  // ---- measures: a ranking is a list of tie groups, each a list of labels; the pool is all labels ----

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  const places = (groups) => {
    let above = 0;
    return groups.map((group) => ({ group, above: (above += group.length) - group.length }));
  };

  // Σ gain · mean of the weights of the group's places
  const additive = (groups, gain, weight) =>
    sum(places(groups).map(({ group, above }) =>
      (sum(group.map(gain)) * sum(range(above + 1, above + group.length + 1).map(weight))) / group.length));

  const ideal = (pool, gain, weight) =>
    sum(pool.map(gain).sort((a, b) => b - a).map((value, i) => value * weight(i + 1)));

  const nDCG = (groups, pool) => {
    const gain = (label) => Math.max(label, 0);
    const weight = (rank) => 1 / Math.log2(rank + 1);
    const best = ideal(pool, gain, weight);
    return best > 0 ? additive(groups, gain, weight) / best : 0;
  };

  const precision = (k) => (groups) => additive(groups, (label) => +(label >= 1), (rank) => +(rank <= k)) / k;

  const RBP = (p) => (groups) => (1 - p) * additive(groups, (label) => +(label >= 1), (rank) => p ** (rank - 1));

  // r/n · [(R+1)·H + (r-1)/(n-1)·G]: r of n tied documents are relevant, after R relevant ones
  const apAt = (groups, pool, level) => {
    const base = pool.filter((label) => label >= level).length;
    let found = 0;
    let total = 0;
    for (const { group, above } of places(groups)) {
      const n = group.length;
      const r = group.filter((label) => label >= level).length;
      const h = sum(range(above + 1, above + n + 1).map((i) => 1 / i));
      const g = sum(range(above + 1, above + n + 1).map((i) => (i - above - 1) / i));
      if (r) total += (r / n) * ((found + 1) * h + (n > 1 ? ((r - 1) / (n - 1)) * g : 0));
      found += r;
    }
    return base ? total / base : 0;
  };

  const AP = (groups, pool) => apAt(groups, pool, 1);

  const muAP = (groups, pool) => {
    const levels = [...new Set(pool.filter((label) => label > 0))].sort((a, b) => a - b);
    const steps = levels.map((level, i) => level - (i ? levels[i - 1] : 0));
    return levels.length ? sum(levels.map((level, i) => steps[i] * apAt(groups, pool, level))) / sum(steps) : 0;
  };

  // the chance that the first relevant one of a group is at its place x, times 1 / rank
  const RR = (groups) => {
    for (const { group, above } of places(groups)) {
      const n = group.length;
      const r = group.filter((label) => label >= 1).length;
      if (!r) continue;
      let none = 1; // so far
      let value = 0;
      for (let x = 1; x <= n - r + 1; x++) {
        const hit = r / (n - x + 1);
        value += (none * hit) / (above + x);
        none *= 1 - hit;
      }
      return value;
    }
    return 0;
  };

  const MEASURES = { "nDCG": nDCG, "AP": AP, "muAP": muAP, "RR": RR, "P@3": precision(3), "RBP": RBP(0.8) };

  const evaluate = (groups) => {
    const pool = groups.flat();
    return Object.fromEntries(Object.entries(MEASURES).map(([name, measure]) => [name, measure(groups, pool)]));
  };
  gradely.evaluate = evaluate;

  // ---- the ranking ----

  const ranking = (home) => {
    let documents = [["A", 3, false], ["B", 0, false], ["C", 1, true], ["D", 2, true], ["E", 0, false], ["F", 1, false]]
      .map(([name, label, tied]) => ({ name, label, tied }));
    const list = make("ol", { class: "ranking", "aria-label": "The ranking" });
    const table = make("tbody");
    const said = make("p", { class: "said", "aria-live": "polite" });

    const groups = () => {
      const out = [];
      documents.forEach(({ label, tied }, i) => (i && tied ? out.at(-1).push(label) : out.push([label])));
      return out;
    };

    const move = (from, to) => {
      if (to < 0 || to >= documents.length) return;
      documents.splice(to, 0, ...documents.splice(from, 1));
      draw();
    };

    const draw = () => {
      const focus = document.activeElement?.dataset?.key;
      list.replaceChildren(...documents.map((entry, i) => {
        const change = (values) => { Object.assign(entry, values); draw(); };
        const label = make("select", { "aria-label": `label of ${entry.name}`, "data-key": `label ${entry.name}`,
          onchange: (event) => change({ label: +event.target.value }) },
          ...[0, 1, 2, 3].map((value) => make("option", value === entry.label ? { selected: "" } : {}, String(value))));
        const tie = make("input", { type: "checkbox", "data-key": `tie ${entry.name}`,
          ...(i && entry.tied ? { checked: "" } : {}), ...(i ? {} : { disabled: "" }),
          onchange: (event) => change({ tied: event.target.checked }) });
        const arrow = (mark, by, words) => make("button", { type: "button", "aria-label": `move ${entry.name} ${words}`,
          "data-key": `${words} ${entry.name}`, onclick: () => move(i, i + by) }, mark);
        return make("li", { draggable: "true", class: i && entry.tied ? "tied" : "", "data-place": i,
          ondragstart: (event) => event.dataTransfer.setData("text/plain", String(i)),
          ondragover: (event) => event.preventDefault(),
          ondrop: (event) => { event.preventDefault(); move(+event.dataTransfer.getData("text/plain"), i); } },
          make("span", { class: "name" }, entry.name), label,
          make("label", {}, tie, " tied with the document above"), arrow("↑", -1, "up"), arrow("↓", 1, "down"));
      }));
      if (focus) list.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
      const expected = evaluate(groups());
      const shown = evaluate(documents.map(({ label }) => [label]));
      table.replaceChildren(...Object.keys(MEASURES).map((name) => make("tr", {},
        make("th", { scope: "row" }, name), make("td", { "data-measure": name }, expected[name].toFixed(4)),
        make("td", {}, shown[name].toFixed(4)),
        make("td", {}, make("meter", { min: 0, max: 1, value: expected[name], "aria-label": name })))));
      said.textContent = `nDCG ${expected.nDCG.toFixed(4)} over all orders of tied documents.`;
    };

    const head = make("tr", {}, ...["measure", "expected", "as listed", ""].map((text) =>
      text ? make("th", { scope: "col" }, text) : make("td")));
    home.append(list, make("table", {}, make("thead", {}, head), table), said);
    gradely.ranking = {
      set: (entries) => { documents = entries.map((entry, i) => ({ name: String.fromCharCode(65 + i), ...entry })); draw(); },
      groups,
      documents: () => documents.map(({ name }) => name),
    };
    draw();
  };

  // ---- for which users is which run better ----

  const COLOURS = ["#4269d0", "#d97706", "#6b7280"];

  const users = (home) => {
    const { runs, levels } = JSON.parse(home.dataset.users);
    const names = Object.keys(runs);
    const value = (name, shares) => sum(shares.map((share, i) => share * runs[name][i]));
    const best = (shares) => names.reduce((a, b) => (value(b, shares) > value(a, shares) ? b : a));
    const corners = [[20, 250], [280, 250], [150, 25]];
    const at = (shares) => [0, 1].map((axis) => sum(shares.map((share, i) => share * corners[i][axis])));
    const svg = (tag, attributes, text = "") => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, content] of Object.entries(attributes)) node.setAttribute(name, content);
      node.textContent = text;
      return node;
    };
    const steps = 40;
    const area = svg("svg", { viewBox: "0 0 300 280", role: "img", "aria-label": "Which run is best for which users" });
    // a grid of small triangles, each in the colour of the run that is best at its middle
    const point = (i, j) => [i / steps, j / steps, (steps - i - j) / steps];
    for (const i of range(0, steps)) for (const j of range(0, steps - i)) {
      const up = [point(i, j), point(i + 1, j), point(i, j + 1)];
      const down = [point(i + 1, j), point(i, j + 1), point(i + 1, j + 1)];
      for (const cell of i + j + 2 <= steps ? [up, down] : [up]) {
        const middle = range(0, 3).map((axis) => sum(cell.map((shares) => shares[axis])) / 3);
        const colour = COLOURS[names.indexOf(best(middle)) % COLOURS.length];
        area.append(svg("polygon", { points: cell.map((shares) => at(shares).join()).join(" "), fill: colour, stroke: colour }));
      }
    }
    levels.forEach((level, i) =>
      area.append(svg("text", { x: corners[i][0], y: corners[i][1] + (i === 2 ? -8 : 20), "text-anchor": "middle" },
        `only level ${level}`)));
    const mark = svg("circle", { r: 6, fill: "#fff", stroke: "#000", "stroke-width": 2 });
    area.append(mark);
    const said = make("p", { class: "said", "aria-live": "polite" });
    const sliders = levels.slice(0, 2).map((level, i) => make("input", {
      type: "range", min: 0, max: 100, value: i ? 30 : 40, "aria-label": `users content with level ${level}, in percent`,
      oninput: () => draw(i) }));
    const draw = (moved = 0) => {
      const [first, second] = sliders.map((slider) => +slider.value / 100);
      if (first + second > 1) sliders[1 - moved].value = Math.round(100 * (1 - (moved ? second : first)));
      const [a, b] = sliders.map((slider) => +slider.value / 100);
      const shares = [a, b, Math.max(0, 1 - a - b)];
      const [x, y] = at(shares);
      mark.setAttribute("cx", x);
      mark.setAttribute("cy", y);
      const values = names.map((name) => `${name} ${value(name, shares).toFixed(4)}`).join(", ");
      const percent = shares.map((share, i) => `${Math.round(100 * share)} % content with level ${levels[i]}`).join(", ");
      said.textContent = `${percent}: ${best(shares)} is best. eGAP: ${values}.`;
    };
    const legend = make("p", {}, ...names.flatMap((name, i) =>
      [make("span", { class: "swatch", style: `background:${COLOURS[i % COLOURS.length]}` }), ` ${name} `]));
    home.append(area, legend, ...sliders.map((slider, i) =>
      make("label", {}, `content with level ${levels[i]} or more `, slider)), said);
    gradely.usersFigure = { best, value };
    draw();
  };

  addEventListener("DOMContentLoaded", () => {
    for (const home of document.querySelectorAll("[data-figure]")) {
      home.replaceChildren();
      ({ ranking, users })[home.dataset.figure](home);
    }
  });
})();

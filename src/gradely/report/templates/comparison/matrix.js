// Every run against every other: a table where there is room for numbers, a picture where there are many runs.
// Wilcoxon's test may favour the run with the lower mean.
const favours = (pair) => (isSure(pair) && pair.favours !== null ? pair.favours : pair.difference);
const kindOf = (pair) =>
  pair.adjusted === null ? "none" : `${isSure(pair) ? "sure" : "unsure"}-${favours(pair) < 0 ? "worse" : "better"}`;
const kinds = ["sure-better", "unsure-better", "unsure-worse", "sure-worse", "none"];
const sizeOf = runs.length > 80 ? 5 : 10;
let order = [];

const sentence = (m, a, b) => {
  const pair = describePair(m, a, b);
  const p = pair.adjusted === null ? pair.status : `${tests.corrected} ${pText(pair.adjusted)}`;
  const verdict = pair.adjusted === null ? "" : isSure(pair) ? ": a significant difference" : ": they cannot be told apart";
  return [bdi(runs[a]), " minus ", bdi(runs[b]), ` by ${measures[m]}: ${signed(pair.difference)}, ${p}${verdict}.`];
};

const choosePair = (first, second) => change({ first, second });

const cellOf = (a, b) => {
  if (a === b) return element("td", "", { class: "diagonal" });
  const pair = describePair(state.measure, a, b);
  const label = `${signed(pair.difference)}${isSure(pair) ? "*" : ""}`;
  const chosen = a === state.first && b === state.second;
  const cell = number(button(label, () => choosePair(a, b), { "aria-pressed": chosen }), pair.difference);
  cell.classList.add(kindOf(pair));
  return cell;
};

const matrixTable = () => {
  const head = row(element("td", "row − column"), ...order.map((s) => element("th", element("span", bdi(runs[s]), { class: "name" }), { scope: "col", class: "number" })));
  const lines = order.map((a) => row(element("th", element("span", bdi(runs[a]), { class: "name" }), { scope: "row" }), ...order.map((b) => cellOf(a, b))));
  return element("table", [element("thead", head), element("tbody", lines)], { id: "matrix-table" });
};

const svgNode = (tag, attributes) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
  return node;
};

// One path for each colour: cells of one row that stand side by side are one rectangle.
const matrixPaths = () => {
  const paths = Object.fromEntries(kinds.map((kind) => [kind, ""]));
  order.forEach((a, i) => {
    let from = 0;
    const kindsOfRow = order.map((b) => (a === b ? "" : kindOf(quickPair(state.measure, a, b))));
    kindsOfRow.forEach((kind, j) => {
      if (j + 1 < kindsOfRow.length && kindsOfRow[j + 1] === kind) return;
      if (kind) paths[kind] += `M${from * sizeOf} ${i * sizeOf}h${(j + 1 - from) * sizeOf}v${sizeOf}h${(from - j - 1) * sizeOf}z`;
      from = j + 1;
    });
  });
  return Object.entries(paths).filter(([, d]) => d).map(([kind, d]) => svgNode("path", { d, class: kind }));
};

// The verdict alone, without the values of the queries: there are thousands of pairs.
const quickPair = (m, a, b) => {
  const pair = findPair(a, b);
  const adjusted = pair && m < tests.adjusted.length ? numbersIn(tests.adjusted[m])[pair.index] : null;
  return { adjusted, difference: board.mean[m][a] - board.mean[m][b], favours: favoured(m, pair) };
};

const cursorAt = (i, j) => {
  const [x, y, side] = [j * sizeOf, i * sizeOf, runs.length * sizeOf];
  const line = (d) => svgNode("path", { d, stroke: "#111", "stroke-width": 1, fill: "none", "pointer-events": "none" });
  return [line(`M0 ${y}h${side}m0 ${sizeOf}h${-side}`), line(`M${x} 0v${side}m${sizeOf} 0v${-side}`)];
};

const matrixPicture = () => {
  const side = runs.length * sizeOf;
  const picture = svgNode("svg", {
    viewBox: `0 0 ${side} ${side}`, width: side, height: side, tabindex: 0, role: "application", id: "matrix-picture",
    "aria-label": "Every run against every other. Arrow keys move, Enter chooses the pair.",
  });
  const [row0, column0] = [order.indexOf(state.first), order.indexOf(state.second)];
  const here = { i: row0, j: column0 };
  const marks = svgNode("g", {});
  marks.append(...cursorAt(row0, column0));
  picture.append(...matrixPaths(), marks);
  const show = (i, j) => {
    Object.assign(here, { i, j });
    marks.replaceChildren(...cursorAt(i, j));
    get("matrix-answer").replaceChildren(...(i === j ? [bdi(runs[order[i]])] : sentence(state.measure, order[i], order[j])));
  };
  const place = (event) => {
    const box = picture.getBoundingClientRect();
    const at = (offset, length) => Math.min(runs.length - 1, Math.max(0, Math.floor((offset / length) * runs.length)));
    return [at(event.clientY - box.top, box.height), at(event.clientX - box.left, box.width)];
  };
  const select = () => here.i !== here.j && choosePair(order[here.i], order[here.j]);
  picture.addEventListener("mousemove", (event) => show(...place(event)));
  picture.addEventListener("mouseleave", () => show(order.indexOf(state.first), order.indexOf(state.second)));
  picture.addEventListener("click", (event) => (show(...place(event)), select()));
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") select();
    if (!step) return;
    event.preventDefault();
    const inside = (x) => Math.min(runs.length - 1, Math.max(0, x));
    show(inside(here.i + step[0]), inside(here.j + step[1]));
  });
  return picture;
};

const showMatrix = () => {
  if (!get("matrix-place")) return;
  const mean = board.mean[state.measure];
  order = runs.map((_, s) => s).sort((a, b) => mean[b] - mean[a] || a - b);
  const active = document.activeElement?.id === "matrix-picture";
  fill("matrix-place", [runs.length > board.cells ? matrixPicture() : matrixTable()]);
  if (active) get("matrix-picture")?.focus({ preventScroll: true });
  fill("matrix-answer", sentence(state.measure, state.first, state.second));
};

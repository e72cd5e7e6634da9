// Tables as CSV or LaTeX, charts as SVG: written here, and saved by the browser.
const save = (text, name, type) => {
  const link = element("a", "", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const fileName = (text, ending) => `${text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "table"}.${ending}`;

const plainText = (cell) => cell.textContent.trim().replace(/\s+/g, " ").replaceAll("−", "-");
const cellsOf = (table) => [...table.rows].map((line) => [...line.cells]);
const isNumber = (text) => text !== "" && Number.isFinite(Number(text));

// A spreadsheet takes what begins with = + - @ for a formula, unless a ' stands before it; numbers may begin so.
const csvField = (cell) => {
  const value = cell.dataset.value !== undefined && isNumber(cell.dataset.value) && !/[/]| to /.test(cell.textContent) ? cell.dataset.value : plainText(cell);
  const safe = /^[=+\-@\t\r]/.test(value) && !isNumber(value) && !/^[+-][\d.]+ to /.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
const asCsv = (table) => cellsOf(table).map((cells) => cells.map(csvField).join(",") + "\n").join("");

const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "–": "--", "±": "$\\pm$", "τ": "$\\tau$", "∞": "$\\infty$" };
const latexText = (text) => text.replace(/[\\~^<>&%$#_{}–±τ∞]/g, (sign) => special[sign] ?? `\\${sign}`);
const latexCell = (cell) => {
  const text = latexText(plainText(cell)).replace(/(^| )-(?=[\d.$])/g, "$1$$-$$");
  return cell.querySelector("strong") ? `\\textbf{${text}}` : text;
};
const asLatex = (table) => {
  const [head, ...lines] = cellsOf(table).map((cells) => `${cells.map(latexCell).join(" & ")} \\\\`);
  const columns = [...table.rows[0].cells].map((cell) => (cell.classList.contains("number") ? "r" : "l")).join("");
  return ["\\begin{tabular}{" + columns + "}", "\\toprule", head, "\\midrule", ...lines, "\\bottomrule", "\\end{tabular}", ""].join("\n");
};

const standalone = (node) => {
  const copy = node.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.querySelectorAll("g").forEach((marks) => marks.remove());
  return new XMLSerializer().serializeToString(copy);
};

const saver = (label, title, action) => button(label, action, { "aria-label": `Save ${title} as ${label}` });
const addTableButtons = (region) => {
  const title = region.getAttribute("aria-label");
  const write = (ending, type, convert) => () => save(convert(region.querySelector("table")), fileName(title, ending), type);
  const buttons = [saver("CSV", title, write("csv", "text/csv", asCsv)), saver("LaTeX", title, write("tex", "text/x-tex", asLatex))];
  if (region.id === "matrix-place" && get("matrix-picture")) {
    buttons.splice(0, 2, saver("SVG", title, () => save(standalone(get("matrix-picture")), "matrix.svg", "image/svg+xml")));
  }
  const box = element("div", element("p", buttons, { class: "save control" }));
  region.replaceWith(box);
  box.append(region);
};
const addChartButton = (place) => {
  const name = place.dataset.chart;
  const write = () => gradely.view(name).then((view) => view.toSVG()).then((text) => save(text, `${name}.svg`, "image/svg+xml"));
  place.after(element("p", saver("SVG", `the chart ${name}`, write), { class: "save control" }));
};

// Numbers as text, and elements. Text only ever becomes text: no markup is made from names.
const { runs, measures, queries, values, rankings, cuts, curves, start, ...board } = gradely.data;
const several = runs.length > 1;
const get = (id) => document.getElementById(id);

const fixed = (x, digits = 4) => (x < 0 && Number(x.toFixed(digits)) !== 0 ? "−" : "") + Math.abs(x).toFixed(digits);
const signed = (x, digits = 4) => {
  const text = Math.abs(x).toFixed(digits);
  return (Number(text) === 0 ? "" : x < 0 ? "−" : "+") + text;
};
const effectText = (x) => (Number.isFinite(x) && Math.abs(x) < 1e300 ? fixed(x, 2) : x < 0 ? "−∞" : "∞");
// Half-way cases go to the even digit, as in Python: p .125 is .12.
const rounded = (x, digits) => {
  const [whole, rest] = x.toFixed(60).split(".");
  const down = `${whole}.${rest.slice(0, digits)}`;
  return /^50*$/.test(rest.slice(digits)) && Number(down.at(-1)) % 2 === 0 ? down : x.toFixed(digits);
};
// As many digits as it takes to see on which side of alpha p lies.
const pText = (p) => {
  let places = 3;
  while (places < 12 && 10 ** -places >= board.alpha) places += 1;
  if (p < 10 ** -places) return `< .${"1".padStart(places, "0")}`;
  let digits = p >= 0.095 ? 2 : places;
  while (digits < 12 && Number(rounded(p, digits)) < board.alpha !== p < board.alpha) digits += 1;
  return rounded(p, digits).replace(/^0/, "");
};

const element = (tag, content = [], attributes = {}) => {
  const node = document.createElement(tag);
  node.append(...[content].flat());
  Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
  return node;
};
// A name may break after a separator, where a word ends, rather than inside of a word.
const breakable = (text) => text.split(/(?<=[^\s(+−][_\-./:])(?<!\d\.(?=\d))(?=[^_\-./:])/).flatMap((part, i) => (i ? [element("wbr"), part] : part));
const bdi = (text) => element("bdi", breakable(text));
const row = (...cells) => element("tr", cells);
const number = (content, value = null) => {
  const cell = element("td", content, { class: "number" });
  if (value !== null) cell.dataset.value = value;
  return cell;
};
const button = (content, action, attributes = {}) => {
  const node = element("button", content, { type: "button", ...attributes });
  node.addEventListener("click", action);
  return node;
};
const fill = (id, lines) => get(id)?.replaceChildren(...lines);

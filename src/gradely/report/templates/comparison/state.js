// What is chosen, and the address that opens the same view: #measure=AP&first=bm25&second=dense&query=q5&at=differences
const state = { measure: 0, first: start[0], second: start[1], query: null, run: 0, run_query: null, at: null };
const initial = { ...state };
const domains = { measure: measures, first: runs, second: runs, query: queries, run: runs, run_query: queries };
const sections = [...document.querySelectorAll("nav a")].map((link) => link.hash.slice(1));

const writeAddress = () => {
  const entries = Object.keys(domains).filter((key) => state[key] !== initial[key] && state[key] !== null);
  const parts = new URLSearchParams(entries.map((key) => [key, domains[key][state[key]]]));
  if (state.at) parts.set("at", state.at);
  const hash = parts.size ? `#${parts}` : "";
  if (hash !== location.hash) history.pushState(null, "", hash || location.pathname + location.search); // Back undoes a choice
};

// Names that the page does not have leave things as they are: an address may be of another page.
const readAddress = () => {
  const parts = new URLSearchParams(location.hash.slice(1));
  Object.entries(domains).forEach(([key, names]) => {
    const at = parts.has(key) ? names.indexOf(parts.get(key)) : -1;
    state[key] = at < 0 ? initial[key] : at;
  });
  state.at = sections.find((name) => name === parts.get("at") || `#${name}` === location.hash) ?? null;
};

const change = (changes) => {
  Object.assign(state, changes);
  writeAddress();
  update();
};

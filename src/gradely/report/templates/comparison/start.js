// Controls, links and listeners; then everything is shown once.
const showControls = () => {
  document.querySelectorAll("select[data-key]").forEach((select) => (select.value = state[select.dataset.key]));
  document.querySelectorAll("input[data-key]").forEach((input) => (input.value = runs[state[input.dataset.key]]));
};

const update = () => {
  showControls();
  showAnswer();
  showLeaderboard();
  showOneRun();
  if (several) {
    showMatrix();
    showTwoRuns();
  }
  showCurves();
};

// A picker takes the name of a run, or a part of it that fits one run only; anything else is undone.
const pick = (input) => {
  const text = input.value.trim();
  const exact = runs.indexOf(input.value);
  const like = runs.map((_, s) => s).filter((s) => text && runs[s].toLowerCase().includes(text.toLowerCase()));
  const found = exact >= 0 ? exact : like.length === 1 ? like[0] : -1;
  input.setAttribute("aria-invalid", found < 0);
  if (found < 0) return;
  change({ [input.dataset.key]: found });
};

const listenToControls = () => {
  document.querySelectorAll("select[data-key]").forEach((select) => {
    select.append(...measures.map((name, i) => element("option", name, { value: i })));
    select.addEventListener("change", () => change({ [select.dataset.key]: Number(select.value) }));
  });
  get("run-names").append(...runs.map((name) => element("option", "", { value: name })));
  document.querySelectorAll("input[data-key]").forEach((input) => {
    input.addEventListener("focus", () => input.select());
    input.addEventListener("change", () => pick(input));
    input.addEventListener("blur", () => {
      input.value = runs[state[input.dataset.key]];
      input.removeAttribute("aria-invalid");
    });
  });
  get("swap")?.addEventListener("click", () => change({ first: state.second, second: state.first }));
  document.querySelectorAll("[data-pair]").forEach((link) =>
    link.addEventListener("click", () => {
      const [first, second] = link.dataset.pair.split(" ").map(Number);
      change({ first, second });
      goTo("differences");
    }),
  );
};

const goTo = (name) => {
  state.at = name;
  writeAddress();
  scrollTo(name);
};

const scrollTo = (name) => {
  const heading = get(name);
  heading.setAttribute("tabindex", -1);
  heading.focus({ preventScroll: true });
  heading.scrollIntoView();
};

const listenToPage = () => {
  document.querySelectorAll("nav a").forEach((link) =>
    link.addEventListener("click", (event) => {
      event.preventDefault();
      goTo(link.hash.slice(1));
    }),
  );
  addEventListener("popstate", () => {
    readAddress();
    update();
    if (state.at) scrollTo(state.at);
  });
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((node) => (node.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((node) => (node.open = false)));
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-chart]").forEach(addChartButton);
    if (several) {
      gradely.view("differences").then((view) =>
        view.addEventListener("click", (_, item) => item?.datum?.index !== undefined && change({ query: item.datum.index })),
      );
    }
    const drawn = [...document.querySelectorAll("[data-chart]")].map((place) => gradely.view(place.dataset.chart));
    if (state.at) Promise.all(drawn).then(() => scrollTo(state.at));
  });
};

readAddress();
listenToControls();
listenToPage();
update();
document.querySelectorAll(".scroll[aria-label]").forEach(addTableButtons);

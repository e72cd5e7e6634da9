"use strict";
// Draws the charts and makes tables sortable. Vega's expressions are interpreted, so that no text becomes code.
const gradely = (() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const specs = read("specs");
  const options = {
    ast: true,
    renderer: "svg",
    actions: false,
    defaultStyle: false,
    config: specs.config,
    tooltip: { disableDefaultStyle: true },
  };
  const views = {};

  const draw = (place) => {
    const name = place.dataset.chart;
    views[name] = vegaEmbed(place, specs.charts[name], options).then((made) => made.view);
  };

  // Give a chart new rows: before it is drawn into its specification, later into its view.
  const feed = (name, rows) => {
    if (views[name]) views[name].then((view) => view.data("rows", rows).runAsync());
    else if (specs.charts[name]) specs.charts[name].data.values = rows;
  };

  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent.trim();
  };

  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y) ? x - y : a.localeCompare(b, "en", { numeric: true });
  };

  const sort = (table, column, direction) => {
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => direction * compare(value(a, column), value(b, column)));
    table.tBodies[0].append(...rows);
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[column].setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  };

  const sortable = (table) => {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const first = head.classList.contains("number") ? "descending" : "ascending";
        const again = head.getAttribute("aria-sort") === first;
        sort(table, column, (first === "ascending") !== again ? 1 : -1);
      });
    });
  };

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-chart]").forEach(draw));
  document.querySelectorAll("table.sortable").forEach(sortable);
  document.documentElement.classList.add("script");
  return { data: read("data"), feed, view: (name) => views[name] };
})();

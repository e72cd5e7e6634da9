// The answer on top follows the measure; that of the first one says where other measures differ, too.
const showAnswer = () => get("answer").replaceChildren(bdi(state.measure ? board.answers[state.measure] : board.summary));

// The leaderboard follows the measure: the chart, and the columns that hold its intervals.
const showLeaderboard = () => {
  const m = state.measure;
  const rows = runs.map((run, s) => ({
    run, mean: board.mean[m][s], low: board.low[m][s], high: board.high[m][s], worst: board.worst[m][s], best: board.best[m][s],
  }));
  gradely.feed("leaderboard", [...rows].sort((a, b) => b.mean - a.mean).slice(0, board.bars));
  document.querySelectorAll("#leaders tbody tr").forEach((line) => {
    const s = Number(line.dataset.run);
    const { low, high, worst, best } = rows[s];
    const moved = best - worst >= 0.00005;
    const texts = [
      [low === null ? "–" : `${fixed(low)} to ${fixed(high)}`, low ?? ""],
      [moved ? `${fixed(worst)} to ${fixed(best)}` : "–", moved ? best - worst : 0],
      [String(board.beaten[m][s]), board.beaten[m][s]],
    ];
    [...line.cells].slice(-3).forEach((cell, i) => {
      cell.textContent = texts[i][0];
      cell.dataset.value = texts[i][1];
    });
  });
  document.querySelectorAll("[data-measure-name]").forEach((place) => place.replaceChildren(measures[m]));
};

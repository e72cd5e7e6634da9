// Curves: the two runs in colour, the best of the others grey.
const showCurves = () => {
  const role = (s) => (s === state.first ? "first" : s === state.second ? "second" : "other");
  const drawn = runs.map((_, s) => s).filter((s) => s < board.greys || role(s) !== "other");
  const rows = drawn.flatMap((s) =>
    cuts.map((cut, i) => ({ run: runs[s], role: role(s), cut, precision: curves[s][0][i], recall: curves[s][1][i], nDCG: curves[s][2][i] })),
  );
  gradely.feed("precision", rows);
  gradely.feed("gain", rows);
};

// What is known of two runs by one measure. Where the page holds every query it is computed here; p-values are shipped.
const tests = board.pairs;
const unpacked = new Map();
const numbersIn = (text) => {
  if (!unpacked.has(text)) unpacked.set(text, text.split(" ").map(Number));
  return unpacked.get(text);
};
const listed = tests.first && new Map(tests.first.map((a, i) => [`${a} ${tests.second[i]}`, i]));
const sameSpread = 2.5 * 10 ** -board.digits; // what is left of equal differences once values are rounded

// Return the number of a pair and whether it stands the other way round; null where it was not tested.
const findPair = (a, b) => {
  if (!tests.tested || a === b) return null;
  if (listed) {
    const straight = listed.get(`${a} ${b}`);
    const index = straight ?? listed.get(`${b} ${a}`);
    return index === undefined ? null : { index, turned: straight === undefined };
  }
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  return { index: low * runs.length - (low * (low + 1)) / 2 + high - low - 1, turned: a > b };
};

const fromValues = (m, a, b) => {
  const [x, y] = [values[m][a], values[m][b]];
  const differ = x.map((value, i) => Math.round((value - y[i]) * 1e12) / 1e12);
  const size = differ.length;
  const mean = differ.reduce((sum, d) => sum + d, 0) / size;
  const spread = Math.sqrt(differ.reduce((sum, d) => sum + (d - mean) ** 2, 0) / (size - 1));
  const constant = Math.max(...differ) - Math.min(...differ) <= sameSpread;
  const [wins, losses] = [differ.filter((d) => d > 0).length, differ.filter((d) => d < 0).length];
  const reach = constant || tests.reach[m] === null ? null : (tests.reach[m] * spread) / Math.sqrt(size);
  const effect = wins + losses === 0 ? 0 : constant ? Math.sign(mean) * Infinity : mean / spread;
  const difference = board.mean[m][a] - board.mean[m][b];
  return { low: reach === null ? null : difference - reach, high: reach === null ? null : difference + reach, effect, wins, losses };
};

const turnAround = ({ low, high, effect, wins, losses }) => ({
  low: high === null ? null : -high, high: low === null ? null : -low, effect: -effect, wins: losses, losses: wins,
});

const shippedNumbers = (m, pair) => {
  if (!pair || !tests.numbers[m]) return { low: null, high: null, effect: null, wins: null, losses: null };
  const [low, high, effect, wins, losses] = tests.numbers[m].map((column) => column[pair.index]);
  return pair.turned ? turnAround({ low, high, effect, wins, losses }) : { low, high, effect, wins, losses };
};

const equivalenceOf = (m, pair) => {
  if (!pair || !tests.equivalence?.[m]) return null;
  const [p, better, equal, worse] = tests.equivalence[m].map((text) => numbersIn(text)[pair.index]);
  return { p, equivalent: p < board.alpha, better: pair.turned ? worse : better, equal, worse: pair.turned ? better : worse };
};

// Return 1 where the test favours the first run, -1 where the second; null where the means say so.
const favoured = (m, pair) => {
  const sign = pair && tests.favours?.[m] ? tests.favours[m][pair.index] : null;
  return sign !== null && pair.turned ? -sign : sign;
};

const describePair = (m, a, b) => {
  const pair = findPair(a, b);
  const known = tests.numbers === null ? fromValues(m, a, b) : shippedNumbers(m, pair);
  if (!pair) Object.assign(known, { low: null, high: null }); // an interval may hold for the tested pairs only
  const shipped = pair !== null && m < tests.p.length;
  return {
    ...known,
    difference: board.mean[m][a] - board.mean[m][b],
    ties: known.wins === null ? null : board.count - known.wins - known.losses,
    status: pair === null ? "not tested" : shipped ? "tested" : "not in this page",
    p: shipped ? numbersIn(tests.p[m])[pair.index] : null,
    adjusted: shipped ? numbersIn(tests.adjusted[m])[pair.index] : null,
    favours: favoured(m, pair),
    equivalence: equivalenceOf(m, pair),
    turning: pair && tests.turning ? (tests.turning[m][pair.index] ?? [0]) : null,
  };
};
const isSure = (pair) => pair.adjusted !== null && pair.adjusted < board.alpha;

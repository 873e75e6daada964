// Simplified lines that cross each other, put right. Arcs are topojson-simplify's: points [longitude, latitude, weight].
//
// Dropping corners can push a line over its neighbour. Must hold: only weights change; the same arcs give the same answer.

// Where simplified lines cross, the corners left out between their ends come back, until nothing crosses. What is still
// left then lies closer together than a step of the grid.
export function untangle(arcs, least, step) {
  for (let round = 0; ; round++) {
    const lines = arcs.flatMap((arc) => linesOf(arc, least, step));
    const tangled = crossings(lines);
    let restored = 0;
    for (const { arc, from, to } of tangled) {
      for (let i = from + 1; i < to; i++) if (arc[i][2] < least) { arc[i][2] = Infinity; restored++; }
    }
    if (!restored || round === 20) return tangled.size;
  }
}

function linesOf(arc, least, step) {
  const kept = arc.map((p, i) => i).filter((i) => arc[i][2] >= least);
  return kept.slice(1).map((to, n) => {
    const from = kept[n], on = (i) => [Math.round(arc[i][0] / step), Math.round(arc[i][1] / step)];
    return { arc, from, to, a: on(from), b: on(to) };
  }).filter(({ a, b }) => (a[0] !== b[0] || a[1] !== b[1]) && Math.abs(a[0] - b[0]) * step < 180);
}

function crossings(lines) {
  const size = 200, tiles = new Map(), found = new Set();
  lines.forEach((line) => {
    const [x0, x1] = [line.a[0], line.b[0]].sort((p, q) => p - q).map((v) => Math.floor(v / size));
    const [y0, y1] = [line.a[1], line.b[1]].sort((p, q) => p - q).map((v) => Math.floor(v / size));
    for (let x = x0; x <= x1; x++) for (let y = y0; y <= y1; y++) {
      const key = x * 1e6 + y;
      if (tiles.has(key)) tiles.get(key).push(line); else tiles.set(key, [line]);
    }
  });
  for (const near of tiles.values()) for (let i = 0; i < near.length; i++) for (let j = i + 1; j < near.length; j++) {
    if (cross(near[i], near[j])) { found.add(near[i]); found.add(near[j]); }
  }
  return found;
}

function cross({ a, b }, { a: c, b: d }) {
  const turn = (p, q, r) => Math.sign((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]));
  const same = (p, q) => p[0] === q[0] && p[1] === q[1];
  const inSpan = (p, q, r) => Math.min(p[0], q[0]) <= r[0] && r[0] <= Math.max(p[0], q[0]) && Math.min(p[1], q[1]) <= r[1] && r[1] <= Math.max(p[1], q[1]);
  if (same(a, c) || same(a, d) || same(b, c) || same(b, d)) {  // neighbours: only if one lies on the other
    const [shared, p, q] = same(a, c) ? [a, b, d] : same(a, d) ? [a, b, c] : same(b, c) ? [b, a, d] : [b, a, c];
    return turn(shared, p, q) === 0 && (inSpan(shared, p, q) || inSpan(shared, q, p));
  }
  const [abc, abd, cda, cdb] = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)];
  if (abc !== abd && cda !== cdb) return true;
  return (abc === 0 && inSpan(a, b, c)) || (abd === 0 && inSpan(a, b, d)) || (cda === 0 && inSpan(c, d, a)) || (cdb === 0 && inSpan(c, d, b));
}

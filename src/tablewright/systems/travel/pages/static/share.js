// The share card: the map with its figures, drawn on a canvas in this browser, saved as a PNG.
//
// Must hold: it shows only the name, the marks and the figures. Elsewhere: shapes and figures (atlas.js).
(function (self) {
  "use strict";

  var skratch = self.skratch;
  var W = 1200, H = 630, MAP_TOP = 150, MAP_WIDTH = 1088, MAP_HEIGHT = 416;
  var COLOURS = { AF: "#c9691c", AN: "#5f7f9e", AS: "#b93a59", EU: "#2b65b8", NA: "#25835b", OC: "#7a49b8", SA: "#8d7b06" };
  var FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif";

  async function start() {
    var root = document.getElementById("card");
    if (!root) return;
    var who = await skratch.traveller(root), files = JSON.parse(root.dataset.files);
    var store = await skratch.openStore(who.id);
    var said = document.getElementById("c-said");
    try { await skratch.sync(store); } catch (stopped) { if (!stopped.reason) throw stopped; }
    var facts = {
      view: await store.view(), regions: await skratch.regions(files.regions), features: await skratch.shapes(files.country, "country"),
      lakes: await skratch.shapes(files.lakes, "lakes"),
    };
    var canvas = document.getElementById("c-canvas"), year = document.getElementById("c-year"), name = document.getElementById("c-name");
    var redraw = function () {
      var told = draw(canvas, facts, year.value, name.value.trim());
      canvas.setAttribute("aria-label", told);
      said.textContent = told;
    };
    year.addEventListener("change", redraw);
    name.addEventListener("input", redraw);
    redraw();
    var save = document.getElementById("c-save");
    save.disabled = false;
    save.addEventListener("click", function () { download(canvas, year.value); });
    root.dataset.ready = "yes";
  }

  // The places of a year, by their date and their trips; all of them without a year.
  function chosen(places, year) {
    if (!year) return places;
    return new Map(Array.from(places).filter(function (entry) {
      var place = entry[1], trips = Object.values(place.trips || {});
      var days = (place.visited_date ? [place.visited_date] : []).concat(trips.map(function (trip) { return trip.start; }));
      return days.some(function (day) { return String(day).startsWith(year); });
    }));
  }

  function draw(canvas, facts, year, name) {
    var pen = canvas.getContext("2d"), places = chosen(facts.view.places, year);
    var figures = skratch.figures(facts.regions, places);
    pen.fillStyle = "#fbf8f1"; pen.fillRect(0, 0, W, H);
    ground(pen, facts, places);
    var title = year ? (name ? name + ", " : "") + year + " in review" : name ? "Where " + name + " has been" : "Where I've been";
    pen.textBaseline = "alphabetic"; pen.textAlign = "left";
    pen.fillStyle = "#1b2026"; pen.font = "650 46px " + FONT; pen.fillText(title, 56, 84, 1088);
    var lines = words(figures, year);
    pen.fillStyle = "#59636f"; pen.font = "400 24px " + FONT; pen.fillText(lines, 56, 124, 1088);
    bar(pen, figures, year);
    pen.fillStyle = "#7d4c00"; pen.font = "620 22px " + FONT; pen.textAlign = "right"; pen.fillText("Skratch", W - 56, H - 34);
    return title + ": " + lines;
  }

  function words(figures, year) {
    var counted = figures.counted, parts = [];
    var country = counted.country;
    parts.push(plural(country[0], "country", "countries") + (year ? "" : " of " + country[1] + " (" + skratch.percent(country[0], country[1]) + "%)"));
    parts.push(plural(figures.continents.size, "continent", "continents"));
    if (counted.us_state[0]) parts.push(plural(counted.us_state[0], "US state", "US states"));
    if (counted.canadian_province[0]) parts.push(plural(counted.canadian_province[0], "Canadian province", "Canadian provinces"));
    return parts.join("  ·  ");
  }

  function plural(count, one, many) { return count + " " + (count === 1 ? one : many); }

  function ground(pen, facts, places) {
    var project = skratch.projection("country", facts.features, MAP_WIDTH, MAP_HEIGHT);
    pen.save(); pen.translate((W - MAP_WIDTH) / 2, MAP_TOP);
    pen.beginPath(); pen.roundRect(0, 0, MAP_WIDTH, MAP_HEIGHT, 14); pen.clip();
    pen.fillStyle = "#eaf1f6"; pen.fillRect(0, 0, MAP_WIDTH, MAP_HEIGHT);
    if (!places.has(skratch.key("country", "AQ"))) {  // without Antarctica the rest of the world is drawn larger
      project.fitWidth(MAP_WIDTH, { type: "Sphere" });
      var tall = project([0, -56.5])[1] - project([0, 83.7])[1];
      project.scale(project.scale() * Math.min(1, (MAP_HEIGHT - 16) / tall)).translate([0, 0]);
      project.translate([MAP_WIDTH / 2, 8 - project([0, 83.7])[1]]);
    }
    var path = d3.geoPath(project, pen);
    facts.features.forEach(function (feature) {
      var key = skratch.key("country", feature.id), region = facts.regions.get(key), isVisited = places.has(key);
      pen.beginPath(); path(feature);
      pen.fillStyle = isVisited ? COLOURS[region.continent] : "#d9d2c2"; pen.fill();
      pen.lineWidth = 0.6; pen.strokeStyle = "#fbf8f1"; pen.stroke();
      if (isVisited && path.area(feature) < 14) {
        var at = project(region.at);
        pen.beginPath(); pen.arc(at[0], at[1], 4, 0, 2 * Math.PI); pen.fill(); pen.stroke();
      }
    });
    facts.lakes.forEach(function (lake) { pen.beginPath(); path(lake); pen.fillStyle = "#eaf1f6"; pen.fill(); });
    pen.restore();
  }

  function bar(pen, figures, year) {
    if (year) return;
    var country = figures.counted.country, length = 420;
    pen.fillStyle = "#e6dfcf"; pen.beginPath(); pen.roundRect(56, H - 46, length, 12, 6); pen.fill();
    pen.fillStyle = "#7d4c00"; pen.beginPath(); pen.roundRect(56, H - 46, Math.max(length * country[0] / country[1], country[0] ? 12 : 0), 12, 6); pen.fill();
    pen.fillStyle = "#59636f"; pen.font = "400 19px " + FONT;
    pen.fillText(skratch.percent(country[0], country[1]) + "% of the world’s countries", 56 + length + 18, H - 34);
  }

  function download(canvas, year) {
    canvas.toBlob(function (picture) {
      var link = document.createElement("a");
      link.href = self.URL.createObjectURL(picture);
      link.download = "skratch" + (year ? "-" + year : "") + ".png";
      link.click();
      self.setTimeout(function () { self.URL.revokeObjectURL(link.href); }, 10000);
    }, "image/png");
  }

  start();
})(self);

// One map on the page: regions to point at, tap and reach with the arrow keys; zoom.
//
// Must hold: the whole map is one stop of the Tab key; screen readers read a region's name and whether it is marked.
// Elsewhere: what a tap does (map.js).
(function (self) {
  "use strict";

  var SVG = "http://www.w3.org/2000/svg";
  var DOT_BELOW = 14, NEAR = 18;  // regions smaller than this many square units get a dot; taps this near count for it

  function element(name, attributes, parent) {
    var made = document.createElementNS(SVG, name);
    Object.entries(attributes || {}).forEach(function (entry) { made.setAttribute(entry[0], entry[1]); });
    if (parent) parent.appendChild(made);
    return made;
  }

  function Canvas(svg, options) {
    this.svg = svg; this.press = options.press; this.point = options.point;
    this.spots = new Map(); this.view = null; this.moved = 0; this.pointers = new Map();
    this.listen();
  }

  Canvas.prototype.draw = function (type, all, features, lakes, label) {
    var svg = this.svg, canvas = this;
    this.type = type; this.spots.clear(); svg.replaceChildren();
    svg.setAttribute("aria-label", label);
    this.project = self.skratch.projection(type, features);
    var path = d3.geoPath(this.project).digits(2);
    if (type === "country") {
      element("path", { "class": "sea", d: path({ type: "Sphere" }) }, svg);
      element("path", { "class": "lines", d: path(d3.geoGraticule10()) }, svg);
    }
    var ground = element("g", {}, svg), dots = element("g", {}, svg), aside = 0;
    features.forEach(function (feature) {
      var region = all.get(self.skratch.key(type, feature.id));
      if (!region) return;
      var drawn = path(feature), area = drawn ? path.area(feature) : 0;
      var at = (drawn && canvas.project(region.at)) || path.centroid(feature);
      if (!drawn || !at || Number.isNaN(at[0])) {  // islands far off the map are drawn in a row below it
        at = [self.skratch.WIDTH - 112 + (aside % 2) * 60, self.skratch.HEIGHT - 62 + Math.floor(aside / 2) * 22]; aside += 1;
        element("text", { "class": "dot-name", x: at[0] + 13, y: at[1] + 5 }, dots).textContent = region.code.slice(3);
        drawn = null;
      }
      var isDot = !drawn || area < DOT_BELOW;
      var shape = isDot
        ? element("circle", { cx: at[0].toFixed(1), cy: at[1].toFixed(1), r: 3 }, dots)
        : element("path", { d: drawn }, ground);
      var continent = region.continent || (all.get(self.skratch.key("country", region.parent)) || {}).continent || "NA";
      shape.setAttribute("class", (isDot ? "land dot c-" : "land c-") + continent.toLowerCase());
      shape.setAttribute("role", "button");
      shape.setAttribute("tabindex", "-1");
      shape.setAttribute("data-code", region.code);
      canvas.spots.set(region.code, { region: region, shape: shape, at: at, isDot: isDot, isFixed: !drawn });
    });
    if (lakes) this.drawLakes(lakes, features, path);
    this.current = null;
    this.show(null);
  };

  // Water lies over the regions; on a map of one country only where it touches it.
  Canvas.prototype.drawLakes = function (lakes, features, path) {
    if (this.type !== "country") {
      var clip = element("clipPath", { id: "shore" }, this.svg);
      element("path", { d: features.map(function (feature) { return path(feature) || ""; }).join("") }, clip);
    }
    var group = element("g", this.type === "country" ? {} : { "clip-path": "url(#shore)" }, this.svg);
    lakes.forEach(function (lake) { element("path", { "class": "lake", d: path(lake) || "" }, group); });
    this.svg.appendChild(this.svg.querySelector("g:nth-of-type(2)"));  // dots stay on top
  };

  Canvas.prototype.paint = function (places) {
    var type = this.type;
    this.spots.forEach(function (spot, code) {
      var place = places.get(self.skratch.key(type, code));
      spot.shape.classList.toggle("visited", Boolean(place));
      spot.shape.classList.toggle("waits", Boolean(place && place.waits));
      spot.shape.setAttribute("aria-pressed", place ? "true" : "false");
      spot.shape.setAttribute("aria-label", spot.region.name + (place ? ", visited" + (place.visited_date ? " " + place.visited_date : "") : ", not visited"));
    });
  };

  Canvas.prototype.select = function (code, focus) {
    var spot = this.spots.get(code), before = this.current && this.spots.get(this.current);
    if (before) { before.shape.classList.remove("current"); before.shape.setAttribute("tabindex", "-1"); }
    this.current = spot ? code : null;
    if (!spot) return this.first();
    spot.shape.classList.add("current");
    spot.shape.setAttribute("tabindex", "0");
    if (!spot.isDot) spot.shape.parentNode.appendChild(spot.shape);  // its border over those of its neighbours
    if (focus) spot.shape.focus({ preventScroll: true });
  };

  Canvas.prototype.first = function () {
    var any = this.spots.get("FR") || this.spots.get("US-CO") || this.spots.get("CA-ON") || this.spots.values().next().value;
    if (any) any.shape.setAttribute("tabindex", "0");
  };

  // --- zoom: `view` is the centre and the scale ---

  Canvas.prototype.show = function (box) {
    var w = self.skratch.WIDTH, h = self.skratch.HEIGHT;
    if (!box) this.view = { x: w / 2, y: h / 2, k: 1 };
    else {
      var k = Math.min(w / (box[2] - box[0]), h / (box[3] - box[1]));
      this.view = { x: (box[0] + box[2]) / 2, y: (box[1] + box[3]) / 2, k: k };
    }
    this.applyView();
  };

  Canvas.prototype.size = function () {
    var aspect = (this.svg.clientWidth || 960) / (this.svg.clientHeight || 500);
    var w = Math.max(self.skratch.WIDTH, self.skratch.HEIGHT * aspect) / this.view.k;
    return [w, w / aspect];
  };

  Canvas.prototype.applyView = function () {
    var view = this.view;
    view.k = Math.min(Math.max(view.k, 1), 24);
    var size = this.size(), W = self.skratch.WIDTH, H = self.skratch.HEIGHT;
    var within = function (middle, length, whole) {
      return length >= whole ? whole / 2 : Math.min(Math.max(middle, length / 2), whole - length / 2);
    };
    view.x = within(view.x, size[0], W); view.y = within(view.y, size[1], H);
    this.svg.setAttribute("viewBox", [view.x - size[0] / 2, view.y - size[1] / 2, size[0], size[1]].map(function (n) { return n.toFixed(2); }).join(" "));
    this.svg.classList.toggle("near", view.k > 1.01);
    var unit = size[0] / (this.svg.clientWidth || 960);  // map units in one pixel
    this.spots.forEach(function (spot) { if (spot.isDot) spot.shape.setAttribute("r", ((spot.isFixed ? 6 : view.k > 3 ? 5 : 3.2) * unit).toFixed(2)); });
    this.svg.style.setProperty("--unit", String(unit));
  };

  Canvas.prototype.zoom = function (by, at) {
    var view = this.view, before = view.k;
    view.k = Math.min(Math.max(view.k * by, 1), 24);
    if (at) { view.x = at[0] - (at[0] - view.x) * before / view.k; view.y = at[1] - (at[1] - view.y) * before / view.k; }
    this.applyView();
  };

  // Zoom in until a region is visible with its surroundings, unless the map is zoomed in further already.
  Canvas.prototype.approach = function (code) {
    var spot = this.spots.get(code), box = spot.shape.getBBox(), room = Math.max(box.width, box.height, 24) * 1.6;
    var k = Math.min(self.skratch.WIDTH / (box.width + 2 * room), self.skratch.HEIGHT / (box.height + 2 * room), 6);
    this.view = { x: box.x + box.width / 2, y: box.y + box.height / 2, k: Math.max(k, Math.min(this.view.k, 6)) };
    this.applyView();
  };

  Canvas.prototype.inMap = function (event) {
    var point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [point.x, point.y];
  };

  // The region that a tap means: the one under it, or a dot that is near enough for a finger.
  Canvas.prototype.meant = function (event) {
    var code = event.target.getAttribute && event.target.getAttribute("data-code");
    var at = this.inMap(event), unit = this.size()[0] / (this.svg.clientWidth || 960);
    var reach = (event.pointerType === "mouse" ? 6 : NEAR) * unit, nearest = null;
    this.spots.forEach(function (spot, key) {
      if (!spot.isDot) return;
      var distance = Math.hypot(spot.at[0] - at[0], spot.at[1] - at[1]);
      if (distance < reach) { reach = distance; nearest = key; }
    });
    return (code && this.spots.get(code).isDot ? code : null) || (code && event.pointerType === "mouse" ? code : null) || nearest || code;
  };

  Canvas.prototype.listen = function () {
    var canvas = this, svg = this.svg;
    svg.addEventListener("click", function (event) {
      if (canvas.moved > 6) return;
      var code = canvas.meant(event);
      if (code) canvas.press(code);
    });
    svg.addEventListener("pointermove", function (event) {
      var code = event.target.getAttribute && event.target.getAttribute("data-code");
      canvas.point(event.pointerType === "mouse" ? code : null, event);
      canvas.drag(event);
    });
    svg.addEventListener("pointerleave", function (event) { canvas.point(null, event); });
    svg.addEventListener("pointerdown", function (event) {
      if (!canvas.pointers.size) canvas.moved = 0;
      canvas.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    ["pointerup", "pointercancel"].forEach(function (name) {
      self.addEventListener(name, function (event) { canvas.pointers.delete(event.pointerId); });
    });
    svg.addEventListener("wheel", function (event) {
      if (!event.ctrlKey && canvas.view.k <= 1.01) return;  // the page scrolls unless the map is zoomed in
      event.preventDefault();
      canvas.zoom(Math.exp(-event.deltaY / 300), canvas.inMap(event));
    }, { passive: false });
    svg.addEventListener("keydown", function (event) { canvas.key(event); });
    svg.addEventListener("focusin", function (event) {
      var code = event.target.getAttribute("data-code");
      if (code) { canvas.point(code, event); canvas.reveal(code); }
    });
    new ResizeObserver(function () { if (canvas.view) canvas.applyView(); }).observe(svg);
  };

  Canvas.prototype.drag = function (event) {
    var last = this.pointers.get(event.pointerId);
    if (!last) return;
    var others = Array.from(this.pointers).filter(function (one) { return one[0] !== event.pointerId; });
    var unit = this.size()[0] / (this.svg.clientWidth || 960);
    if (others.length) {
      var other = others[0][1];
      var was = Math.hypot(last[0] - other[0], last[1] - other[1]), is = Math.hypot(event.clientX - other[0], event.clientY - other[1]);
      if (was > 0) this.zoom(is / was, this.inMap({ clientX: (event.clientX + other[0]) / 2, clientY: (event.clientY + other[1]) / 2 }));
      this.moved += 10;
    } else {
      this.moved += Math.hypot(event.clientX - last[0], event.clientY - last[1]);
      if (this.view.k > 1.01 && this.moved > 6) {
        this.view.x -= (event.clientX - last[0]) * unit; this.view.y -= (event.clientY - last[1]) * unit;
        this.applyView();
      }
    }
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  };

  Canvas.prototype.reveal = function (code) {
    var spot = this.spots.get(code), size = this.size(), view = this.view;
    if (Math.abs(spot.at[0] - view.x) > size[0] / 2 || Math.abs(spot.at[1] - view.y) > size[1] / 2) {
      view.x = spot.at[0]; view.y = spot.at[1];
      this.applyView();
    }
  };

  var STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  Canvas.prototype.key = function (event) {
    var code = event.target.getAttribute("data-code");
    if (!code) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.press(code); return; }
    if (event.key === "+" || event.key === "-") { event.preventDefault(); this.zoom(event.key === "+" ? 1.6 : 1 / 1.6, this.spots.get(code).at); return; }
    var step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    var next = this.beside(code, step);
    if (!next) return;
    this.spots.get(code).shape.setAttribute("tabindex", "-1");
    var shape = this.spots.get(next).shape;
    shape.setAttribute("tabindex", "0");
    shape.focus({ preventScroll: true });
  };

  // The nearest region in a direction; regions straight ahead are preferred over those aside.
  Canvas.prototype.beside = function (code, step) {
    var from = this.spots.get(code).at, best = Infinity, found = null;
    this.spots.forEach(function (spot, key) {
      var x = spot.at[0] - from[0], y = spot.at[1] - from[1];
      var ahead = x * step[0] + y * step[1], aside = Math.abs(x * step[1] + y * step[0]);
      if (ahead <= 0.5 || key === code) return;
      var far = ahead + 2.5 * aside;
      if (far < best) { best = far; found = key; }
    });
    return found;
  };

  self.skratch.Canvas = Canvas;
})(self);

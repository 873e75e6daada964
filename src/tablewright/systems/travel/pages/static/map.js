// The scratch map: connects the browser's copy, the map and the panel. Works the same online and offline.
//
// Must hold: every change goes through the queue of store.js, so nothing depends on the server; tapping a marked place
// again does not remove it, because its notes would be removed too.
(function (self) {
  "use strict";

  var skratch = self.skratch;
  var LABELS = { country: "the world", us_state: "the United States", canadian_province: "Canada" };
  var MARK_COUNTRY = { us_state: "US", canadian_province: "CA" };

  async function start() {
    var root = document.getElementById("scratch");
    if (!root) return;
    if ("serviceWorker" in navigator) {
      navigator.serviceWorker.register(root.dataset.worker, { scope: root.dataset.scope }).catch(function () {});
    }
    var who = await skratch.traveller(root);
    if (!who) { document.getElementById("no-map").hidden = false; root.hidden = true; return; }
    var store = await skratch.openStore(who.id);
    // Shown while there is no copy yet, until the first answer of the server.
    if (root.dataset.user) store.first = JSON.parse(root.dataset.states || "[]");
    var page = new Page(root, store);
    if (!root.dataset.user) page.nameShell(who);
    if (who.others) page.tellOthers(who);
    self.addEventListener("skratch-gone", function () { document.getElementById("gone").hidden = false; root.hidden = true; });
    await page.open();
  }

  function Page(root, store) {
    var page = this;
    this.root = root; this.store = store; this.files = JSON.parse(root.dataset.files);
    this.svg = root.querySelector("svg.map"); this.tip = root.querySelector(".map-tip");
    this.canvas = new skratch.Canvas(this.svg, {
      press: function (code) { page.press(code); }, point: function (code, event) { page.point(code, event); },
    });
    this.spot = new skratch.Spot(root.querySelector(".spot"), {
      mark: function (region) { page.mark(region); },
      unmark: function (region, base) { page.unmark(region, base); },
      change: function (region, data, base) { page.write("update", region, data, base); },
    });
    this.link = new skratch.Link(store, root.querySelector(".sync-state"), function () { return page.refresh(); });
  }

  Page.prototype.nameShell = function (who) {
    document.querySelector("h1").textContent = who.name + "'s map";
    document.querySelectorAll('[data-online], .top a[data-sign-in]').forEach(function (one) { one.hidden = true; });
  };

  // Another traveller's unsent changes are in this browser. That traveller can sign in and send them, or they are deleted.
  Page.prototype.tellOthers = function (who) {
    var line = document.getElementById("others"), some = who.others === 1 ? "1 change" : who.others + " changes";
    line.querySelector("span").textContent = some + " to another traveller’s map " + (who.others === 1 ? "was" : "were") + " never sent from this browser. They can sign in here to send " + (who.others === 1 ? "it." : "them.");
    line.hidden = false;
    line.querySelector("button").addEventListener("click", function () {
      skratch.forgetOthers(who.id, true).then(function () { line.hidden = true; });
    });
  };

  Page.prototype.open = async function () {
    var page = this;
    this.regions = await skratch.regions(this.files.regions);
    this.lakes = await skratch.shapes(this.files.lakes, "lakes");
    this.view = await this.store.view();
    this.fillFinder();
    this.listen();
    var asked = new URL(self.location.href).searchParams;
    await this.turnTo(asked.get("map") || "country");
    var wanted = asked.get("place") && this.region(asked.get("place"));
    if (wanted) await this.lookAt(wanted);
    this.link.soon(0);
    this.link.tell();
    this.root.dataset.ready = "yes";
    self.addEventListener("popstate", function () {
      page.turnTo(new URL(self.location.href).searchParams.get("map") || "country");
    });
  };

  // --- which map ---

  Page.prototype.turnTo = async function (type) {
    this.type = LABELS[type] ? type : "country";
    var features = await skratch.shapes(this.files[this.type], this.type);
    this.canvas.draw(this.type, this.regions, features, this.lakes, "Map of " + LABELS[this.type] + ". Arrow keys move, Enter marks.");
    this.canvas.first();
    this.root.querySelectorAll("[data-map]").forEach(function (tab) {
      if (tab.dataset.map === this.type) tab.setAttribute("aria-current", "true"); else tab.removeAttribute("aria-current");
    }, this);
    this.root.querySelector(".continents").hidden = this.type !== "country";
    this.root.dataset.type = this.type;
    this.chosen = null;
    this.say("");
    this.spot.show(null);
    this.paint();
  };

  Page.prototype.listen = function () {
    var page = this;
    this.root.querySelectorAll("[data-map]").forEach(function (tab) {
      tab.addEventListener("click", function (event) {
        event.preventDefault();
        self.history.pushState({}, "", tab.href);
        page.turnTo(tab.dataset.map);
      });
    });
    this.root.querySelectorAll("[data-zoom]").forEach(function (button) {
      button.addEventListener("click", function () {
        if (button.dataset.zoom === "all") page.canvas.show(null);
        else page.canvas.zoom(button.dataset.zoom === "in" ? 1.6 : 1 / 1.6);
      });
    });
    this.root.querySelectorAll("[data-continent]").forEach(function (button) {
      button.addEventListener("click", function () {
        var frame = skratch.FRAMES[button.dataset.continent];
        page.canvas.show(frame ? skratch.boxOf(page.canvas.project, frame) : null);
      });
    });
    this.root.querySelector(".finder").addEventListener("submit", function (event) {
      event.preventDefault();
      page.find(event.target.elements.place.value);
    });
    this.root.querySelector("[data-here]").addEventListener("click", function () { page.locate(); });
    this.root.querySelector(".finder input").addEventListener("change", function (event) { page.find(event.target.value); });
    this.root.querySelector(".news").addEventListener("click", function (event) {
      if (event.target.dataset.seen) page.store.seen(event.target.dataset.seen).then(function () { page.refresh(); });
    });
  };

  // --- finding a place by its name ---

  Page.prototype.fillFinder = function () {
    var list = document.getElementById("place-names");
    this.names = new Map();
    this.regions.forEach(function (region) {
      var words = region.type === "country" ? region.name : region.name + ", " + (region.type === "us_state" ? "United States" : "Canada");
      this.names.set(words.toLowerCase(), region);
      var option = document.createElement("option");
      option.value = words;
      list.appendChild(option);
    }, this);
  };

  Page.prototype.find = async function (typed) {
    if (!typed.trim() || this.finding === typed) return;  // pressing the button also fires `change`
    this.finding = typed;
    try { await this.found(typed); } finally { this.finding = null; }
  };

  Page.prototype.found = async function (typed) {
    // An exact entry of the list first: only these say which Georgia.
    var found = this.names.get(typed.trim().toLowerCase()) || skratch.meant(this.regions, typed);
    if (!found) { this.say("No place called “" + typed + "” was found."); return; }
    this.say("");
    await this.lookAt(found);
  };

  Page.prototype.lookAt = async function (found) {
    if (found.type !== this.type) {
      self.history.pushState({}, "", "?map=" + found.type);
      await this.turnTo(found.type);
    }
    this.canvas.approach(found.code);
    this.choose(found.code, true);
  };

  // --- the traveller's location ---

  Page.prototype.locate = function () {
    var page = this;
    if (!navigator.geolocation) { this.say("This browser can't find your location. Search for the place by name."); return; }
    this.say("Finding your location…");
    navigator.geolocation.getCurrentPosition(
      function (position) { page.arrive(position.coords.longitude, position.coords.latitude); },
      function (error) {
        page.say(error.code === 1 ? "Location access is blocked. Allow it in your browser, or search for the place by name." : "Your location isn't available right now. Search for the place by name.");
      },
      { timeout: 20000 });
  };

  Page.prototype.arrive = async function (longitude, latitude) {
    var found = await this.regionAt(longitude, latitude);
    if (!found) { this.say("There is no place on the map at your location. Search for one by name."); return; }
    await this.lookAt(found);
    if (this.place(found)) { this.say("You are in " + found.name + ", which is already marked."); return; }
    this.say("You are in " + found.name + ".", [this.undo("Mark it", function () { return this.mark(found); })]);
  };

  // By the borders in this browser; a position is sent to the server only where they have no match: on a coast or a small island.
  Page.prototype.regionAt = async function (longitude, latitude) {
    var country = await this.within("country", longitude, latitude);
    var type = Object.keys(MARK_COUNTRY).find(function (one) { return country && MARK_COUNTRY[one] === country.code; });
    if (country) return (type && await this.within(type, longitude, latitude)) || country;
    var near = await skratch.fetched("/travel/v1/regions/here?lat=" + latitude + "&lon=" + longitude).catch(function () { return []; });
    var last = near.length ? near[near.length - 1].region : null;  // the country, then its state
    return (last && this.regions.get(skratch.key(last.region_type, last.region_code))) || null;
  };

  Page.prototype.within = async function (type, longitude, latitude) {
    var features = await skratch.shapes(this.files[type], type);
    var found = features.find(function (one) { return d3.geoContains(one, [longitude, latitude]); });
    return (found && this.regions.get(skratch.key(type, String(found.id)))) || null;
  };

  // --- marking ---

  Page.prototype.region = function (code) { return this.regions.get(skratch.key(this.type, code)); };
  Page.prototype.place = function (region) { return this.view.places.get(skratch.key(region.type, region.code)); };

  Page.prototype.choose = function (code, focus) {
    if (code !== this.chosen) this.say("");  // the message and its Undo are about another place
    this.chosen = code;
    this.canvas.select(code, focus);
    this.showSpot();
  };

  Page.prototype.press = function (code) {
    var region = this.region(code);
    this.choose(code, false);
    if (!this.place(region)) this.mark(region);
  };

  // The shown version of a place: the next change is based on it.
  Page.prototype.base = function (region) {
    return this.view.bases.get(skratch.key(region.type, region.code)) || { version: 0, previous: null };
  };

  Page.prototype.mark = async function (region) {
    await this.write("create", region, {}, this.base(region));
    var made = this.base(region);
    var undo = this.undo("Undo", function () { return this.write("delete", region, {}, made); });
    this.say(region.name + " marked.", [undo].concat(this.offer(region)), { region: region, isMarked: true });
  };

  // Whether the country of a state is marked too is a setting of the traveller.
  Page.prototype.offer = function (region) {
    var code = MARK_COUNTRY[region.type], country = code && this.regions.get(skratch.key("country", code));
    if (!country || this.place(country) || (this.view.settings.mark_country || "ask") !== "ask") return [];
    return [this.undo("Mark " + country.name + " too", function () {
      this.say(country.name + " marked.", [], { region: country, isMarked: true });
      return this.write("create", country, {}, this.base(country));
    })];
  };

  Page.prototype.unmark = async function (region, base) {
    var was = this.place(region);
    await this.write("delete", region, {}, base);
    var gone = this.base(region);
    var words = region.name + " removed from your map." + (region.code === "US" || region.code === "CA" ? " States and provinces you marked stay marked." : "");
    this.say(words, [this.undo("Undo", function () {
      return this.write("restore", region, { visited_date: was.visited_date || null, notes: was.notes || null, trips: was.trips || {} }, gone);
    })], { region: region, isMarked: false });
  };

  Page.prototype.write = async function (kind, region, data, base) {
    await this.store.add(kind, region.type, region.code, data, base);
    await this.refresh();
    this.link.tell();
    this.link.channel.postMessage("changed");
    this.link.soon();
  };

  Page.prototype.undo = function (words, does) {
    var page = this, button = document.createElement("button");
    button.type = "button"; button.className = "link"; button.textContent = words;
    button.addEventListener("click", function () { page.say(""); does.call(page); });
    return button;
  };

  // `claim` is what the message says about a place; the message goes as soon as that is no longer true (see `retract`).
  Page.prototype.say = function (words, buttons, claim) {
    var line = this.root.querySelector(".said");
    this.claim = claim || null;
    line.textContent = words;
    (buttons || []).forEach(function (button) { line.append(" ", button); });
  };

  // Removes a message that another device, or a conflict about the place, has made untrue.
  Page.prototype.retract = function (news) {
    var claim = this.claim;
    if (!claim) return;
    var isDisputed = news.some(function (one) {
      return one.entities.some(function (state) {
        return state.data.region_type === claim.region.type && state.data.region_code === claim.region.code;
      });
    });
    if (isDisputed || Boolean(this.place(claim.region)) !== claim.isMarked) this.say("");
  };

  // --- showing ---

  Page.prototype.refresh = async function () {
    if (this.link.isGone) return;
    this.view = await this.store.view();
    this.paint();
    var news = await this.store.news();
    this.retract(news);
    this.tellNews(news);
  };

  Page.prototype.paint = function () {
    this.canvas.paint(this.view.places);
    this.showSpot();
    var figures = skratch.figures(this.regions, this.view.places);
    Object.entries(figures.counted).forEach(function (entry) {
      var shown = this.root.querySelector("[data-figure=" + entry[0] + "]");
      shown.querySelector(".part").textContent = String(entry[1][0]);
      shown.querySelector("small").textContent = "of " + entry[1][1] + ", " + skratch.percent(entry[1][0], entry[1][1]) + " %";
    }, this);
    this.root.querySelector("[data-figure=continents] .part").textContent = String(figures.continents.size);
    this.root.querySelectorAll("[data-legend]").forEach(function (one) { one.classList.toggle("been", figures.continents.has(one.dataset.legend)); });
  };

  Page.prototype.showSpot = function () {
    var region = this.chosen && this.region(this.chosen);
    if (!region) { this.spot.show(null); return; }
    this.spot.show(region, this.place(region), this.base(region), region.parent ? "US state or territory" : "");
    if (region.type === "canadian_province") this.spot.find("about").textContent = "Canadian province or territory";
  };

  Page.prototype.point = function (code, event) {
    var region = code && this.region(code);
    this.tip.hidden = !region;
    if (!region) return;
    var box = this.svg.getBoundingClientRect(), place = this.place(region);
    this.tip.textContent = region.name + (place && place.visited_date ? ", " + skratch.shownDate(place.visited_date) : "");
    var at = event.type === "focusin" ? event.target.getBoundingClientRect() : null;
    var x = at ? at.left + at.width / 2 : event.clientX, y = at ? at.top : event.clientY;
    this.tip.style.left = Math.min(Math.max(x - box.left, 60), box.width - 60) + "px";
    this.tip.style.top = Math.max(y - box.top - 12, 26) + "px";
  };

  // Results of operations that the traveller should see.
  Page.prototype.tellNews = function (news) {
    var list = this.root.querySelector(".news"), page = this;
    list.replaceChildren.apply(list, news.map(function (one) {
      var row = document.createElement("li"), words = document.createElement("span"), seen = document.createElement("button");
      words.textContent = page.newsWords(one);
      row.append(words);
      if (one.status === "conflict") {
        var look = document.createElement("a");
        look.href = "/console/travel/conflicts"; look.textContent = "Compare both versions";
        row.append(look);
      }
      seen.type = "button"; seen.className = "link"; seen.textContent = "Dismiss"; seen.dataset.seen = one.operation_id;
      row.append(seen);
      return row;
    }));
  };

  Page.prototype.newsWords = function (one) {
    var state = one.entities[0], name = (state && state.data.region_name) || "Your settings";
    if (one.status === "failed") return (state ? name + ": " : "A change was refused: ") + (one.message || one.error);
    return name + ": another device changed this too. Both versions are kept for you to compare.";
  };

  start();
})(self);

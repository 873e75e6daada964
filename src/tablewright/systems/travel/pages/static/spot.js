// The panel beside the map: one place with its date, notes and trips, to be edited online or offline.
//
// Must hold: a saved edit is based on the version that the form showed when typing began, whatever arrived since: two
// edits at once give both texts or a conflict, never one of them alone. Elsewhere: dates (dates.js).
(function (self) {
  "use strict";

  var NOTES = 500;
  var begins = self.skratch.begins, shownDate = self.skratch.shownDate;

  function dateMistake(text) {
    if (!text) return "";
    var day = begins(text);
    if (!day) return "Enter a year, a month or a day: 2024, 2024-05 or 2024-05-01.";
    return day.getTime() > Date.now() + 864e5 ? "This date is in the future." : "";
  }

  function Spot(panel, does) {
    this.panel = panel; this.does = does; this.region = null; this.shown = "";
    this.empty = panel.querySelector(".spot-empty");
    this.body = panel.querySelector(".spot-body");
    this.form = panel.querySelector("form.spot-form");
    this.trip = panel.querySelector("form.trip-form");
    this.listen();
  }

  Spot.prototype.find = function (name) { return this.panel.querySelector("[data-spot=" + name + "]"); };

  // `base` is the version of `place`, and the last operation on it.
  Spot.prototype.show = function (region, place, base, parent) {
    var isOther = !this.region || !region || this.region.code !== region.code || this.region.type !== region.type;
    this.region = region; this.place = place; this.newest = base;
    if (isOther) this.before = null;
    this.empty.hidden = Boolean(region); this.body.hidden = !region;
    if (!region) return;
    this.find("name").textContent = region.name;
    this.find("about").textContent = parent || self.skratch.CONTINENTS[region.continent] || "";
    this.find("counts").hidden = region.counts;
    this.find("state").textContent = place ? (place.waits ? "Not sent yet" : "Visited") : "Not marked";
    this.find("state").className = "badge " + (place ? (place.waits ? "busy" : "good") : "");
    this.find("mark").hidden = Boolean(place);
    this.find("unmark").hidden = !place;
    this.find("trips").hidden = !place;
    this.form.hidden = !place && !this.isChanged();  // removed on another device: what was typed stays
    this.find("page").href = "/console/travel/places/" + region.type + "/" + region.code;
    if (place) this.fill(place, isOther);
    else this.find("newer").hidden = this.form.hidden;
  };

  // An answer that arrives while the traveller types does not replace what was typed.
  Spot.prototype.fill = function (place, isOther) {
    var now = JSON.stringify([place.visited_date || null, place.notes || null]);
    var isTyping = this.isChanged(), isSame = !isOther && now === this.shown;
    if (isSame || !isTyping) this.base = this.newest;
    this.find("newer").hidden = isSame || !isTyping;
    if (!this.before || (!isSame && !isTyping)) {
      this.shown = now; this.before = { visited_date: place.visited_date || "", notes: place.notes || "" };
      this.form.elements.visited_date.value = this.before.visited_date;
      this.form.elements.notes.value = this.before.notes;
      this.wrong(this.form, "visited_date", "");
      this.count();
    }
    this.list(place.trips || {});
  };

  Spot.prototype.isChanged = function () {
    var fields = this.form.elements;
    return Boolean(this.before) && (fields.visited_date.value.trim() !== this.before.visited_date || fields.notes.value !== this.before.notes);
  };

  Spot.prototype.count = function () {
    var left = NOTES - Array.from(this.form.elements.notes.value).length;
    this.find("left").textContent = left < 0 ? -left + " characters too many" : left + " characters left";
    this.find("left").classList.toggle("over", left < 0);
    return left >= 0;
  };

  Spot.prototype.wrong = function (form, name, words) {
    var said = form.querySelector("[data-error=" + name + "]");
    said.textContent = words; said.hidden = !words;
    form.elements[name].setAttribute("aria-invalid", words ? "true" : "false");
    return !words;
  };

  Spot.prototype.list = function (trips) {
    var list = this.find("list"), spot = this;
    list.replaceChildren.apply(list, Object.entries(trips).sort(function (a, b) { return a[1].start < b[1].start ? 1 : -1; }).map(function (entry) {
      var row = document.createElement("li"), words = document.createElement("span"), remove = document.createElement("button");
      words.textContent = self.skratch.shownSpan(entry[1].start, entry[1].end) + (entry[1].notes ? ": " + entry[1].notes : "");
      remove.type = "button"; remove.className = "link"; remove.textContent = "Remove";
      remove.setAttribute("aria-label", "Remove the trip in " + shownDate(entry[1].start));
      remove.addEventListener("click", function () { spot.change({ trips: single(entry[0], null) }, spot.newest); });
      row.append(words, remove);
      return row;
    }));
  };

  function single(name, value) { var made = {}; made[name] = value; return made; }

  Spot.prototype.change = function (data, base) { return this.does.change(this.region, data, base); };

  Spot.prototype.listen = function () {
    var spot = this, form = this.form, trip = this.trip;
    this.find("mark").addEventListener("click", function () { spot.does.mark(spot.region); });
    this.find("unmark").addEventListener("click", function () { spot.before = null; spot.does.unmark(spot.region, spot.base); });
    form.elements.notes.addEventListener("input", function () { spot.count(); });
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      var date = form.elements.visited_date.value.trim(), notes = form.elements.notes.value.trim(), data = {};
      if (!spot.wrong(form, "visited_date", dateMistake(date)) || !spot.count()) return;
      if (date !== spot.before.visited_date) data.visited_date = date || null;
      if (notes !== spot.before.notes) data.notes = notes || null;
      spot.before = { visited_date: date, notes: form.elements.notes.value };
      spot.shown = JSON.stringify([date || null, notes || null]);  // the next edit is based on what is saved now
      form.elements.notes.blur();
      if (Object.keys(data).length) spot.change(data, spot.base);
    });
    trip.addEventListener("submit", function (event) {
      event.preventDefault();
      var start = trip.elements.start.value.trim(), end = trip.elements.end.value.trim();
      var mistake = start ? dateMistake(start) : "Enter when the trip started.";
      if (!spot.wrong(trip, "start", mistake)) return;
      mistake = dateMistake(end) || (end && begins(end) < begins(start) && end.slice(0, start.length) < start ? "The trip ends before it starts." : "");
      if (!spot.wrong(trip, "end", mistake)) return;
      var made = { start: start, end: end || null, notes: trip.elements.trip_notes.value.trim() || null };
      trip.reset();
      spot.change({ trips: single("t" + self.crypto.randomUUID().slice(0, 8), made) }, spot.newest);
    });
  };

  Object.assign(self.skratch, { Spot: Spot });
})(self);

// The page shown in place of a page of Skratch while offline: the timeline, the places and the statistics from this
// browser's copy; for any other page, a note that it needs a connection. On every page: the changes not sent yet.
//
// Must hold: a page other than the requested one is never shown without saying so. Elsewhere: which requests get this
// page (worker.js), the copy (store.js), the figures (back.js).
(function (self) {
  "use strict";

  var skratch = self.skratch;
  var SHOWS = { places: showPlaces, timeline: showTimeline, statistics: showStatistics };
  var DID = { create: "marked", update: "changed", "delete": "removed", restore: "restored" };
  var LISTED = 20;

  async function start() {
    var root = document.getElementById("away");
    if (!root) return;
    var who = await skratch.traveller(root), away = new Away(root);
    if (!who) { away.say("You're offline, and this page needs a connection. There is no map on this device."); return; }
    away.store = await skratch.openStore(who.id);
    self.addEventListener("skratch-gone", function () { self.location.reload(); });
    away.link = new skratch.Link(away.store, root.querySelector(".sync-state"), function () { return away.refresh(); });
    away.regions = await skratch.regions(root.dataset.regions);
    await away.refresh();
    away.link.soon(0);
    await away.link.tell();
    root.dataset.ready = "yes";
  }

  function Away(root) {
    var titles = JSON.parse(root.dataset.titles), rest = self.location.pathname.slice(root.dataset.base.length + 1).split("/");
    this.root = root; this.base = root.dataset.base;
    this.page = rest[0]; this.place = rest[0] === "places" && rest.length === 3 ? skratch.key(rest[1], rest[2]) : null;
    this.title = titles[this.page] || "This page";
    this.show = this.place ? showPlace : rest.length === 1 ? SHOWS[this.page] : null;
    this.head(this.title);
    root.querySelectorAll("[data-page]").forEach(function (tab) {
      if (tab.dataset.page === this.page) tab.setAttribute("aria-current", "page");
    }, this);
    document.querySelectorAll('[data-online], .top a[data-sign-in]').forEach(function (one) { one.hidden = true; });
  }

  Away.prototype.find = function (name) { return this.root.querySelector("[data-away=" + name + "]"); };
  Away.prototype.head = function (words) {
    this.root.querySelector("h1").textContent = words;
    document.title = words + document.title.slice(document.title.indexOf(" · "));
  };

  Away.prototype.say = function (words, more) {
    this.find("says").textContent = words;
    (more || []).forEach(function (part) { this.find("says").append(" ", part); }, this);
  };

  Away.prototype.refresh = async function () {
    var view = await this.store.view(), shown = this.find("shown");
    if (this.show) shown.replaceChildren.apply(shown, this.show(this, view.places));
    this.tell();
    this.tellWaiting(await this.store.queue());
  };

  Away.prototype.tell = function () {
    var form = self.location.hash === "#unknown" ? "The connection was lost while a form was being sent, so it may not have arrived. Check the page, and send it again if it is missing. " : "";
    if (this.link.hasSpoken && this.link.reason !== "offline") {
      this.say(form + "You're back online.", [anchor(self.location.href.replace("#unknown", ""), "Open " + (this.title === "This page" ? "this page" : this.title))]);
    } else if (this.show) {
      this.say(form + "You're offline. This is the copy on this device. You can still mark places and add notes on the map.");
    } else {
      this.say(form + "You're offline, and this page needs a connection. The map, your places, the timeline and the statistics work offline.", [anchor(this.base, "Open the map")]);
    }
  };

  Away.prototype.tellWaiting = function (queue) {
    var part = this.find("waiting"), list = part.querySelector("ul"), regions = this.regions;
    var rows = queue.slice(0, LISTED).map(function (one) {
      var region = regions.get(skratch.key(one.operation.region_type, one.operation.region_code));
      return made("li", "", (region ? region.name : "Your settings") + ": " + (DID[one.operation.operation_type] || "changed"));
    });
    if (queue.length > LISTED) rows.push(made("li", "", "and " + (queue.length - LISTED) + " more"));
    list.replaceChildren.apply(list, rows);
    part.hidden = !queue.length;
  };

  // --- the pages ---

  function showTimeline(away, places) {
    var parts = skratch.byYear(skratch.moments(away.regions, places)).map(function (entry) {
      var list = made("ol", "timeline-list"), count = entry[1].length;
      entry[1].forEach(function (moment) { list.append(momentRow(away, moment)); });
      return section(entry[0], count + (count === 1 ? " entry" : " entries"), [list]);
    });
    var rest = skratch.undated(away.regions, places);
    if (rest.length) parts.push(section("Without a date", some(rest.length), [nameList(away, rest)]));
    return parts.length ? parts : [made("p", "", "No places are marked on this device yet.")];
  }

  function momentRow(away, moment) {
    var row = made("li"), link = anchor(away.href(moment.region), "");
    link.append(made("strong", "", moment.region.name));
    row.append(link);
    if (moment.isTrip) row.append(" ", made("span", "badge", "trip"));
    row.append(" ", made("span", "when", moment.when));
    if (moment.notes) row.append(made("p", "said-of", moment.notes));
    return row;
  }

  function showPlaces(away, places) {
    return skratch.marked(away.regions, places).filter(function (entry) { return entry[1].length; }).map(function (entry) {
      return section(entry[0], some(entry[1].length), [nameList(away, entry[1])]);
    }).concat([made("p", "help spaced", "These are the places you marked. You can find all others on the map.")]);
  }

  function showPlace(away, places) {
    var region = away.regions.get(away.place), place = places.get(away.place);
    if (!region) return [];
    away.head(region.name);
    var parts = [made("p", "", place ? "Visited" + (place.visited_date ? ": " + skratch.shownDate(place.visited_date) : "") + "." : "Not marked.")];
    if (place && place.notes) parts.push(made("p", "side-said spaced", place.notes));
    var trips = made("ul", "report");
    Object.values((place && place.trips) || {}).forEach(function (trip) {
      trips.append(made("li", "", skratch.shownSpan(trip.start, trip.end) + (trip.notes ? ": " + trip.notes : "")));
    });
    if (trips.children.length) parts.push(made("h2", "", "Trips"), trips);
    var link = anchor(away.base + "?map=" + region.type + "&place=" + encodeURIComponent(region.code), place ? "Edit on the map" : "Mark on the map");
    link.className = "button spaced";
    return parts.concat([link]);
  }

  function showStatistics(away, places) {
    var parts = [shareList(skratch.shares(away.regions, places)), made("h2", "", "By continent"), shareList(skratch.continents(away.regions, places))];
    return parts.concat([made("p", "help", "Calculated on this device. Years, your travel streak and recently marked places need a connection.")]);
  }

  function shareList(rows) {
    var list = made("div", "shares");
    rows.forEach(function (row) {
      var share = made("div", "share"), head = made("div", "share-head"), strong = made("strong", "", row[1] + " "), bar = made("progress");
      strong.append(made("small", "", "of " + row[2] + ", " + skratch.percent(row[1], row[2]) + " %"));
      head.append(made("span", "", row[0]), " ", strong);
      bar.max = row[2]; bar.value = row[1];
      bar.setAttribute("aria-label", row[0] + ": " + row[1] + " of " + row[2]);
      share.append(head, bar);
      list.append(share);
    });
    return list;
  }

  // --- pieces ---

  Away.prototype.href = function (region) { return this.base + "/places/" + region.type + "/" + region.code; };

  function some(count) { return count === 1 ? "1 place" : count + " places"; }

  function nameList(away, regions) {
    var list = made("ul", "places");
    regions.forEach(function (region) { var row = made("li"); row.append(anchor(away.href(region), region.name)); list.append(row); });
    return list;
  }

  function section(title, about, parts) {
    var whole = made("section"), head = made("h2", "year", title + " ");
    head.append(made("small", "", about));
    whole.append.apply(whole, [head].concat(parts));
    return whole;
  }

  function made(tag, kind, text) {
    var one = document.createElement(tag);
    if (kind) one.className = kind;
    if (text) one.textContent = text;
    return one;
  }

  function anchor(href, text) { var one = made("a", "", text); one.href = href; return one; }

  start();
})(self);

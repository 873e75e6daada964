// The timeline and the statistics, from this browser's copy: moments by year, and shares of the world. Pure.
//
// Must hold: the same places give the same texts as on the server's pages (pages/statistics.py); a test compares them.
(function (self) {
  "use strict";

  var skratch = self.skratch;
  var TYPES = { country: "Countries", us_state: "US states", canadian_province: "Canadian provinces" };

  function found(regions, places) {
    return Array.from(places, function (entry) { return { key: entry[0], place: entry[1], region: regions.get(entry[0]) }; })
      .filter(function (one) { return one.region; });
  }

  // Every visit with a date and every trip, the latest first.
  function moments(regions, places) {
    var all = [];
    found(regions, places).forEach(function (one) {
      var place = one.place;
      if (place.visited_date) all.push(moment(one.region, place.visited_date, skratch.shownDate(place.visited_date), place.notes, false));
      Object.values(place.trips || {}).forEach(function (trip) {
        all.push(moment(one.region, trip.start, skratch.shownSpan(trip.start, trip.end), trip.notes, true));
      });
    });
    return all.sort(function (a, b) {
      return a.at !== b.at ? (a.at < b.at ? 1 : -1) : a.region.name === b.region.name ? 0 : a.region.name < b.region.name ? 1 : -1;
    });
  }

  // `at` is the sort key of a date: a year or a month sorts right after its first day.
  function moment(region, day, when, notes, isTrip) {
    var first = skratch.begins(day).toISOString().slice(0, 10);
    return { year: first.slice(0, 4), at: first + "~".repeat(10 - day.length), when: when, region: region, notes: notes || "", isTrip: isTrip };
  }

  // Pairs of a year and its moments, the latest first.
  function byYear(all) {
    var years = new Map();
    all.forEach(function (one) { if (!years.has(one.year)) years.set(one.year, []); years.get(one.year).push(one); });
    return Array.from(years).sort(function (a, b) { return a[0] < b[0] ? 1 : -1; });
  }

  function byName(regions) {
    return regions.sort(function (a, b) { return a.name.localeCompare(b.name, "en"); });
  }

  function undated(regions, places) {
    return byName(found(regions, places)
      .filter(function (one) { return !one.place.visited_date && !Object.keys(one.place.trips || {}).length; })
      .map(function (one) { return one.region; }));
  }

  // The marked regions, by type.
  function marked(regions, places) {
    return Object.entries(TYPES).map(function (entry) {
      var mine = found(regions, places).map(function (one) { return one.region; }).filter(function (one) { return one.type === entry[0]; });
      return [entry[1], byName(mine)];
    });
  }

  // Rows of a title, a part and its whole: of each type, and of all together.
  function shares(regions, places) {
    var counted = skratch.figures(regions, places).counted, part = 0, whole = 0;
    var rows = Object.entries(TYPES).map(function (entry) {
      var one = counted[entry[0]];
      part += one[0]; whole += one[1];
      return [entry[1], one[0], one[1]];
    });
    return rows.concat([["All places", part, whole]]);
  }

  // The counted countries of each continent, and how many of them are marked.
  function continents(regions, places) {
    return Object.entries(skratch.CONTINENTS).map(function (entry) {
      var counted = Array.from(regions).filter(function (one) { return one[1].type === "country" && one[1].counts && one[1].continent === entry[0]; });
      return [entry[1], counted.filter(function (one) { return places.has(one[0]); }).length, counted.length];
    }).filter(function (row) { return row[2]; });
  }

  Object.assign(skratch, { moments: moments, byYear: byYear, undated: undated, marked: marked, shares: shares, continents: continents });
})(self);

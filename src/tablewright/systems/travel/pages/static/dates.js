// Partial dates (a year, a month or a day), as people and the server write them. Pure.
(function (self) {
  "use strict";

  // The first day of a partial date, or null if the text is not one: 2024, 2024-05, 2024-05-01.
  function begins(text) {
    var found = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(text);
    if (!found) return null;
    var day = new Date(Date.UTC(+found[1], found[2] ? +found[2] - 1 : 0, found[3] ? +found[3] : 1));
    var isReal = (!found[2] || day.getUTCMonth() === +found[2] - 1) && (!found[3] || day.getUTCDate() === +found[3]);
    return isReal ? day : null;
  }

  function shownDate(text) {
    var day = text && begins(text);
    if (!day) return "";
    var options = { timeZone: "UTC", year: "numeric" };
    if (text.length > 4) options.month = "long";
    if (text.length > 7) options.day = "numeric";
    return day.toLocaleDateString("en-GB", options);
  }

  // `May 2024 to June 2024`.
  function shownSpan(start, end) {
    return shownDate(start) + (end && end !== start ? " to " + shownDate(end) : "");
  }

  Object.assign(self.skratch, { begins: begins, shownDate: shownDate, shownSpan: shownSpan });
})(self);

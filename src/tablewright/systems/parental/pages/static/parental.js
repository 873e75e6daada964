// What a script adds: the browser's own time zone where none is chosen; and to the policy editor rows without a round
// trip, apps found while typing, times drawn in the week.
// The server draws the week: each change sends the form and puts its answer in place. Everything works without this.
(function () {
  "use strict";
  var DAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
  var HEAD = 24, HOUR = 14, STEP = 30; // as the picture of a week is drawn, in pixels and minutes
  var NIGHT = 720, REST = 350; // how far past midnight one may draw, in minutes; how long a finger rests, in ms

  document.documentElement.classList.add("has-script");
  document.querySelectorAll("select[data-own-zone]").forEach(function (zone) {
    if (zone.value) return;
    zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (zone.selectedIndex < 0) zone.value = "";
  });
  var form = document.querySelector("[data-editor]");
  if (!form) return;
  var rows = form.querySelector("[data-time-rows]");
  var template = form.querySelector("[data-time-template]");
  if (!template) return;

  function changed() { form.dispatchEvent(new CustomEvent("week-changed")); }

  function clock(minute) {
    var m = minute % 1440;
    return String(Math.floor(m / 60)).padStart(2, "0") + ":" + String(m % 60).padStart(2, "0");
  }

  function nextNumber() {
    var most = -1;
    rows.querySelectorAll("input[type=time]").forEach(function (input) {
      most = Math.max(most, parseInt(input.name.slice(1), 10));
    });
    return most + 1;
  }

  function blankRow() {
    return Array.prototype.find.call(rows.children, function (row) {
      return Array.prototype.every.call(row.querySelectorAll("input[type=time]"), function (input) { return !input.value; });
    });
  }

  function addTime(start, end, days) {
    var row = blankRow();
    if (!row) {
      var holder = document.createElement("div");
      holder.innerHTML = template.innerHTML.replace(/NUMBER/g, nextNumber());
      row = holder.firstElementChild;
      rows.appendChild(row);
    }
    var times = row.querySelectorAll("input[type=time]");
    times[0].value = start;
    times[1].value = end;
    row.querySelectorAll("input[type=checkbox]").forEach(function (tick) { tick.checked = days.indexOf(tick.value) >= 0; });
    form.querySelector("input[name=when][value=times]").checked = true;
    showWhen();
    changed();
    return row;
  }

  function showWhen() {
    var always = form.querySelector("input[name=when][value=always]").checked;
    form.querySelector("[data-time-part]").classList.toggle("is-off", always);
  }

  // --- buttons ---
  form.addEventListener("click", function (event) {
    var preset = event.target.closest("[data-preset]");
    var drop = event.target.closest("[data-drop]");
    if (preset) {
      event.preventDefault();
      addTime(preset.dataset.start, preset.dataset.end, preset.dataset.days.split(" ")).querySelector("input").focus();
    } else if (drop) {
      event.preventDefault();
      drop.closest("[data-time-row]").remove();
      changed();
    }
  });
  form.addEventListener("change", function (event) { if (event.target.name === "when") showWhen(); });
  showWhen();

  // --- apps, found while typing ---
  var find = form.querySelector("[data-find]");
  var shelves = form.querySelector("[data-shelves]");
  function look() {
    var text = find.value.trim().toLowerCase(), any = false;
    shelves.querySelectorAll("[data-shelf]").forEach(function (shelf) {
      var whole = shelf.querySelector("summary").textContent.toLowerCase().indexOf(text) >= 0, shown = 0;
      shelf.querySelectorAll(".pick").forEach(function (pick) {
        var fits = !text || whole || pick.textContent.toLowerCase().indexOf(text) >= 0 || pick.firstElementChild.checked;
        pick.hidden = !fits;
        if (fits) shown += 1;
      });
      shelf.hidden = !shown;
      if (text) shelf.open = shown > 0;
      any = any || shown > 0;
    });
    var best = shelves.querySelector("[data-best]");
    if (best) best.hidden = !!text;
    shelves.querySelector("[data-nothing]").hidden = any;
  }
  if (find && shelves) {
    // What the server left out because of an earlier search can only come back from it.
    if (!find.value) {
      find.addEventListener("input", look);
      find.addEventListener("keydown", function (event) { if (event.key === "Enter") event.preventDefault(); });
    } else {
      document.documentElement.classList.add("has-found");
    }
  }

  // --- drawing in the week: down and across; below the lower edge it goes on into the next day. A finger scrolls,
  // and draws once it has rested for a moment. ---
  var drawn = null, resting = null;
  function place(svg, event) {
    var box = svg.getBoundingClientRect();
    var day = Math.floor((event.clientX - box.left) / box.width * 7);
    var minute = (event.clientY - box.top - HEAD) / HOUR * 60;
    return { day: Math.min(Math.max(day, 0), 6), minute: Math.min(Math.max(minute, 0), 1440 + NIGHT) };
  }
  function span() {
    var from = Math.min(drawn.start.minute, drawn.end.minute), to = Math.max(drawn.start.minute, drawn.end.minute);
    from = Math.min(Math.floor(from / STEP) * STEP, 1440 - STEP);
    to = Math.max(Math.ceil(to / STEP) * STEP, from + 2 * STEP);
    var first = Math.min(drawn.start.day, drawn.end.day), last = Math.max(drawn.start.day, drawn.end.day);
    return { from: from, to: Math.min(to, from + 1440), first: first, last: last };
  }
  function put(rect, first, last, from, to) {
    rect.setAttribute("x", first / 7 * 100 + "%");
    rect.setAttribute("width", Math.max(last - first + 1, 0) / 7 * 100 + "%");
    rect.setAttribute("y", HEAD + from / 60 * HOUR);
    rect.setAttribute("height", Math.max(to - from, 0) / 60 * HOUR);
  }
  function draw() {
    var s = span();
    put(drawn.rects[0], s.first, s.last, s.from, Math.min(s.to, 1440));
    put(drawn.rects[1], s.first + 1, Math.min(s.last + 1, 6), 0, s.to - 1440);
  }
  function begin(week, event) {
    var svg = week.querySelector("svg");
    var rects = [0, 1].map(function () {
      var rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      rect.setAttribute("class", "week-draw");
      rect.setAttribute("rx", "3");
      return svg.appendChild(rect);
    });
    drawn = { svg: svg, rects: rects, start: place(svg, event), end: place(svg, event) };
    draw();
  }
  function clear() {
    if (resting) clearTimeout(resting.timer);
    resting = null;
    if (drawn) drawn.rects.forEach(function (rect) { rect.remove(); });
    drawn = null;
  }
  document.addEventListener("pointerdown", function (event) {
    var week = event.target.closest("[data-week]");
    if (!week || event.button !== 0 || !event.isPrimary) return;
    if (event.pointerType === "touch") {
      var timer = setTimeout(function () { resting = null; begin(week, event); }, REST);
      resting = { timer: timer, x: event.clientX, y: event.clientY };
      return;
    }
    begin(week, event);
    event.preventDefault();
  });
  document.addEventListener("pointermove", function (event) {
    if (!drawn) return;
    drawn.end = place(drawn.svg, event);
    draw();
  });
  // The browser takes over what moves at once, as scrolling; a finger that rested is ours.
  document.addEventListener("touchmove", function (event) {
    var touch = event.touches[0];
    if (drawn) event.preventDefault();
    else if (resting && Math.hypot(touch.clientX - resting.x, touch.clientY - resting.y) > 8) clear();
  }, { passive: false });
  document.addEventListener("contextmenu", function (event) { if (drawn) event.preventDefault(); });
  document.addEventListener("pointercancel", clear);
  document.addEventListener("pointerup", function () {
    if (!drawn) { clear(); return; }
    var s = span();
    clear();
    addTime(clock(s.from), clock(s.to), DAYS.slice(s.first, s.last + 1));
  });
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") clear(); });
})();

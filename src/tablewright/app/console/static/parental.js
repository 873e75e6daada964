// What a script adds to the policy editor: rows without a round trip, apps found while typing, times drawn in the week.
// The server draws the week: each change sends the form and puts its answer in place. Everything works without this.
(function () {
  "use strict";
  var DAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
  var HEAD = 24, HOUR = 14, STEP = 30; // as the picture of a week is drawn, in pixels and minutes

  document.documentElement.classList.add("has-script");
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

  // --- drawing in the week: down and across, with a mouse or pen; a finger scrolls ---
  var drawn = null;
  function place(svg, event) {
    var box = svg.getBoundingClientRect();
    var day = Math.floor((event.clientX - box.left) / box.width * 7);
    var minute = (event.clientY - box.top - HEAD) / HOUR * 60;
    return { day: Math.min(Math.max(day, 0), 6), minute: Math.min(Math.max(minute, 0), 1440) };
  }
  function span() {
    var from = Math.min(drawn.start.minute, drawn.end.minute), to = Math.max(drawn.start.minute, drawn.end.minute);
    from = Math.floor(from / STEP) * STEP;
    to = Math.max(Math.ceil(to / STEP) * STEP, from + 2 * STEP);
    var first = Math.min(drawn.start.day, drawn.end.day), last = Math.max(drawn.start.day, drawn.end.day);
    return { from: from, to: Math.min(to, 1440), first: first, last: last };
  }
  function draw() {
    var s = span();
    drawn.rect.setAttribute("x", s.first / 7 * 100 + "%");
    drawn.rect.setAttribute("width", (s.last - s.first + 1) / 7 * 100 + "%");
    drawn.rect.setAttribute("y", HEAD + s.from / 60 * HOUR);
    drawn.rect.setAttribute("height", (s.to - s.from) / 60 * HOUR);
  }
  document.addEventListener("pointerdown", function (event) {
    var week = event.target.closest("[data-week]");
    if (!week || event.pointerType === "touch" || event.button !== 0) return;
    var svg = week.querySelector("svg");
    var rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    rect.setAttribute("class", "week-draw");
    rect.setAttribute("rx", "3");
    svg.appendChild(rect);
    drawn = { svg: svg, rect: rect, start: place(svg, event), end: place(svg, event) };
    draw();
    event.preventDefault();
  });
  document.addEventListener("pointermove", function (event) {
    if (!drawn) return;
    drawn.end = place(drawn.svg, event);
    draw();
  });
  document.addEventListener("pointerup", function () {
    if (!drawn) return;
    var s = span();
    drawn.rect.remove();
    drawn = null;
    addTime(clock(s.from), clock(s.to), DAYS.slice(s.first, s.last + 1));
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape" && drawn) { drawn.rect.remove(); drawn = null; }
  });
})();

// Marking: comments at their place in the document, keys for the next submission and for levels, the sum of the levels.
// Everything here is also in the page without a script. What is typed and not saved outlives a reload, and is asked for.
(function () {
  "use strict";

  // --- comments at their place ---

  function placeOnLine(note, doc) {
    var row = doc.querySelector('tr[data-line="' + note.dataset.onLine + '"]');
    if (!row) return;
    var shell = document.createElement("tr"), head = document.createElement("th"), cell = document.createElement("td");
    shell.className = "note-row";
    var list = document.createElement("ul");
    list.className = "notes";
    list.append(note);
    cell.append(list);
    shell.append(head, cell);
    var after = row;
    while (after.nextElementSibling && after.nextElementSibling.className === "note-row") after = after.nextElementSibling;
    after.after(shell);
    row.classList.add("has-note");
  }

  function placeOnPage(note, doc, number) {
    var page = doc.querySelector('.preview-page[data-page="' + (note.dataset.onPage || 1) + '"]');
    if (!page || note.dataset.x === undefined || page.querySelector('[href="#' + note.id + '"]')) return;
    var pin = document.createElement("a");
    pin.className = "pin";
    pin.href = "#" + note.id;
    pin.textContent = String(number);
    pin.title = note.querySelector(".note-text").textContent;
    pin.style.left = 100 * Number(note.dataset.x) + "%";
    pin.style.top = 100 * Number(note.dataset.y) + "%";
    page.append(pin);
  }

  function pins(doc) {
    doc.querySelectorAll("[data-comment][data-x]").forEach(function (note, place) { placeOnPage(note, doc, place + 1); });
  }

  document.querySelectorAll(".doc").forEach(function (doc) {
    doc.querySelectorAll("[data-comment][data-on-line]").forEach(function (note) { placeOnLine(note, doc); });
    var list = doc.querySelector(":scope > .notes");
    if (list && !list.children.length) list.remove();
    pins(doc);
    doc.addEventListener("preview:page", function () { pins(doc); });
    var form = doc.querySelector(".add-note form");
    if (form) doc.addEventListener("click", function (event) { choosePlace(event, doc, form); });
  });

  // A click on a line or a page says where the next comment goes.
  function choosePlace(event, doc, form) {
    var line = event.target.closest("tr[data-line]"), page = event.target.closest(".preview-page");
    if (event.target.closest("a, button, .note-row") || (!line && !page) || String(getSelection())) return;
    if (line) form.elements.line.value = line.dataset.line;
    if (page) {
      var box = page.getBoundingClientRect();
      form.elements.page.value = page.dataset.page;
      form.elements.x.value = ((event.clientX - box.left) / box.width).toFixed(4);
      form.elements.y.value = ((event.clientY - box.top) / box.height).toFixed(4);
    }
    form.parentElement.open = true;
    if (line) {
      doc.querySelectorAll(".is-chosen").forEach(function (each) { each.classList.remove("is-chosen"); });
      line.classList.add("is-chosen");
    }
    form.elements.text.focus();
  }

  // --- the mark ---

  var form = document.querySelector(".marking-form");
  if (!form) return;
  var total = form.querySelector("[data-total]");

  var criteria = Array.from(form.querySelectorAll("[data-criterion]")), at = 0;

  // The marker's own points, else those of the chosen level; null for a criterion that is not marked.
  function pointsOf(criterion) {
    var own = criterion.querySelector("[data-own]"), level = criterion.querySelector("[data-points]:checked");
    criterion.classList.toggle("has-own", own.value.trim() !== "");
    if (own.value.trim() !== "") return Number(own.value.replace(",", ".")) || 0;
    return level ? Number(level.dataset.points) : null;
  }

  function sum() {
    if (!total) return;
    var marked = criteria.map(pointsOf).filter(function (each) { return each !== null; });
    var points = marked.reduce(function (all, each) { return all + each; }, 0);
    points += Number((form.elements.adjustment.value || "0").replace(",", ".")) || 0;
    total.querySelector("[data-sum]").textContent = marked.length ? String(Math.round(Math.max(points, 0) * 100) / 100) : "–";
    total.classList.toggle("over", points > Number(total.dataset.most));
  }
  // A level that is chosen takes the place of points that were typed.
  function forgetOwn(criterion) { criterion.querySelector("[data-own]").value = ""; }
  form.addEventListener("change", function (event) {
    if (event.target.matches("[data-points]")) { forgetOwn(event.target.closest("[data-criterion]")); sum(); }
  });
  form.addEventListener("input", sum);
  sum();

  function choose(digit) {
    if (!criteria.length) return;
    var levels = criteria[at].querySelectorAll("[data-points]");
    if (digit < 1 || digit > levels.length) return;
    levels[digit - 1].checked = true;
    forgetOwn(criteria[at]);
    sum();
    keep();
    at = Math.min(at + 1, criteria.length - 1);
    show();
  }
  function show() {
    criteria.forEach(function (each, place) { each.classList.toggle("is-here", place === at); });
    criteria[at].scrollIntoView({ block: "nearest" });
  }
  criteria.forEach(function (each, place) { each.addEventListener("focusin", function () { at = place; show(); }); });
  if (criteria.length) criteria[0].classList.add("is-here");

  // --- what is not saved ---

  // Kept in this tab for each submission and marker, with the version of the mark that it was typed over.
  var name = "mark " + form.dataset.marker + " " + location.pathname, isLeaving = false, asked = "", note = null;
  var fields = Array.from(form.elements).filter(function (each) { return each.name && each.type !== "submit"; });

  function isChanged(each) {
    if (each.type === "hidden") return false;
    if (each.type === "radio") return each.checked !== each.defaultChecked;
    if (each.options) {
      var first = Array.from(each.options).filter(function (one) { return one.defaultSelected; })[0] || each.options[0];
      return each.value !== first.value;
    }
    return each.value !== each.defaultValue;
  }
  function isUnsaved() { return "refused" in form.dataset || fields.some(isChanged); }

  // A tab that may not store anything still asks before it is left.
  function keep(isSent) {
    asked = "";
    try {
      var values = fields.map(function (each) { return each.type === "radio" ? each.checked : each.value; });
      var names = fields.map(function (each) { return each.type === "radio" ? each.name + "=" + each.value : each.name; });
      var entry = { version: form.elements.version.value, isSent: isSent === true, names: names, values: values };
      if (isUnsaved()) sessionStorage.setItem(name, JSON.stringify(entry));
      else sessionStorage.removeItem(name);
    } catch (error) { /* no storage */ }
  }

  function kept() {
    try { return JSON.parse(sessionStorage.getItem(name)); } catch (error) { return null; }
  }

  // An entry that was sent is saved once the mark has another version; one that was refused is in the page already.
  function putBack() {
    var entry = kept();
    if (entry && !("refused" in form.dataset) && !(entry.isSent && entry.version !== form.elements.version.value)) {
      fields.forEach(function (each) {
        var at = entry.names.indexOf(each.type === "radio" ? each.name + "=" + each.value : each.name);
        if (at >= 0 && each.type === "radio") each.checked = entry.values[at];
        else if (at >= 0) each.value = entry.values[at];
      });
      if (isUnsaved()) say("What you typed here is not saved yet.", "Discard it");
    }
    keep();
    sum();
  }

  function say(sentence, discard) {
    if (note) note.remove();
    note = document.createElement("div");
    note.className = "flash warn";
    note.setAttribute("role", "alert");
    var words = document.createElement("p");
    words.textContent = sentence + " ";
    note.append(words);
    if (discard) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "link-button";
      button.textContent = discard;
      button.addEventListener("click", function () { sessionStorage.removeItem(name); isLeaving = true; location.replace(location.pathname); });
      words.append(button);
    }
    form.querySelector(".marking-buttons").before(note);
    note.scrollIntoView({ block: "nearest" });
  }

  function hasText(area) { return area.value !== area.defaultValue; }

  // The key is asked for twice where something would be left unsaved.
  function leave(link, key) {
    var comments = Array.from(document.querySelectorAll(".marking-left textarea"));
    if (asked !== key && (isUnsaved() || comments.some(hasText))) {
      say("Something on this page is not saved. Press " + key + " again to leave it, or s to save a draft of the mark.");
      asked = key;
      return;
    }
    isLeaving = true;
    link.click();
  }

  putBack();
  form.addEventListener("input", keep);
  form.addEventListener("change", keep);
  form.addEventListener("submit", function () { keep(true); });
  // Adding or removing a comment comes back to this page.
  document.addEventListener("submit", function (event) { if (event.target.closest(".marking")) isLeaving = true; });
  addEventListener("pageshow", function (event) { if (event.persisted) isLeaving = false; });
  addEventListener("beforeunload", function (event) { if (!isLeaving && isUnsaved()) event.preventDefault(); });

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select")) return;
    var link = document.querySelector('[data-key="' + event.key + '"]');
    if (link) { event.preventDefault(); leave(link, event.key); return; }
    if (event.key === "s") { event.preventDefault(); form.querySelector('[value="draft"]').click(); return; }
    if (/^[1-9]$/.test(event.key)) { event.preventDefault(); choose(Number(event.key)); }
  });
})();

// Keeps a form of Skratch from being sent while offline: the page stays, with what was typed, and says so.
//
// Whether the server is reachable is checked by a request (leave.js). Must hold: a form is sent once, however often its
// button is pressed; without this script it is sent as any form is. Elsewhere: the answer to a form that was lost on the
// way (worker.js), what works offline (map.js, away.js).
(function (self) {
  "use strict";

  var HOME = "/console/travel";
  var AWAY = "You're offline, so nothing was sent. What you typed is still here. Press the button again when you're back online.";
  var BACK = "You're back online, but nothing was sent yet. Press the button again.";

  function say(form, words) {
    var told = document.querySelector("[data-sending]") || document.createElement("div"), text = document.createElement("p");
    told.className = "flash bad";
    told.dataset.sending = "";
    told.setAttribute("role", "alert");
    text.textContent = words;
    told.replaceChildren(text);
    // Above the fields of a form; a form that is only a button in a list has no room for it.
    (form.classList.contains("form") ? form : document.getElementById("main")).prepend(told);
    told.scrollIntoView({ block: "nearest" });
  }

  function isOurs(form, button) {
    var to = new URL((button && button.hasAttribute("formaction") && button.formAction) || form.action, self.location.href);
    return form.method === "post" && (to.pathname + "/").startsWith(HOME + "/");
  }

  var asking = new Set(), isSure = false;

  document.addEventListener("submit", function (event) {
    var form = event.target, button = event.submitter;
    if (event.defaultPrevented || isSure || !isOurs(form, button)) return;
    event.preventDefault();
    if (asking.has(form)) return;
    asking.add(form);
    self.isServerReached().then(function (is) {
      asking.delete(form);
      if (!is) { say(form, AWAY); return; }
      isSure = true;
      form.requestSubmit(button);
      isSure = false;
    });
  });

  self.addEventListener("online", function () {
    var told = document.querySelector("[data-sending] p");
    if (told) told.textContent = BACK;
  });
})(self);

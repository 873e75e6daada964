// A form of Skratch is not sent into nowhere: without a network the page stays as it is, with what was typed, and says so.
//
// Whether there is a network is asked of the server (leave.js). Must hold: a form is sent once, however often its button is
// pressed; without this script it is sent as any form is. Elsewhere: what a form that was sent all the same is answered
// with (worker.js), what works without a network (map.js, away.js).
(function (self) {
  "use strict";

  var HOME = "/console/travel";
  var AWAY = "There is no network, so nothing was sent. What you typed stays here: press the button again when the network is back.";
  var BACK = "The network is back, and nothing was sent yet. Press the button again.";

  function say(form, words) {
    var told = document.querySelector("[data-sending]") || document.createElement("div"), text = document.createElement("p");
    told.className = "flash bad";
    told.dataset.sending = "";
    told.setAttribute("role", "alert");
    text.textContent = words;
    told.replaceChildren(text);
    // In a form that is filled in, above its fields; a button in a list has no room for it.
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

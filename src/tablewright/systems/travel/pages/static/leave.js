// Who signs out, or becomes somebody else, leaves no map behind in this browser: on every page, because one can sign out
// on every page.
//
// Must hold: nothing that only this browser has goes without somebody having been told; nothing goes while there is no
// network, since nobody is signed out then. The map of who signs in again stays. Elsewhere: what is kept (store.js), who came without these pages (its `forgetOthers`).
(function (self) {
  "use strict";

  var ONE = "skratch.";

  function asked(request) {
    return new Promise(function (resolve, reject) {
      request.onsuccess = function () { resolve(request.result); };
      request.onerror = function () { reject(request.error); };
    });
  }

  var PATIENCE = 8000;
  var AWAY = "There is no network, so nobody was signed out. The map stays in this browser until that can be done.";

  // Whether the server answers, whatever it says: a browser that is on some network says it has one.
  self.isServerReached = function () {
    var given = new AbortController(), timer = setTimeout(function () { given.abort(); }, PATIENCE);
    return fetch("/health", { cache: "no-store", credentials: "omit", signal: given.signal }).then(
      function () { clearTimeout(timer); return true; },
      function () { clearTimeout(timer); return false; }
    );
  };

  // The databases of travellers, but for one's.
  async function others(person) {
    var found = await self.indexedDB.databases();
    return found.map(function (one) { return one.name; })
      .filter(function (name) { return name.startsWith(ONE) && name !== ONE + person; });
  }

  async function unsent(name) {
    var db = await asked(self.indexedDB.open(name));
    try {
      if (!db.objectStoreNames.contains("queue")) return 0;
      return await asked(db.transaction("queue").objectStore("queue").count());
    } finally {
      db.close();
    }
  }

  // Whether there may be something (store.js says so). Most of the people who sign in here have no map.
  function isKept() {
    try { return self.localStorage.getItem("skratch") !== null && Boolean(self.indexedDB.databases); } catch (error) { return false; }
  }

  // Whether one may go on: nothing is kept of anybody else, or it is gone now.
  async function left(person) {
    var names = await others(person), waiting = 0;
    for (var name of names) waiting += await unsent(name);
    if (waiting && !self.confirm(words(waiting))) return false;
    await Promise.all(names.map(function (name) { return asked(self.indexedDB.deleteDatabase(name)); }));
    if (names.length) await asked(self.indexedDB.deleteDatabase("skratch"));  // whose map is shown without a network
    if (!person) self.localStorage.removeItem("skratch");
    return true;
  }

  function words(waiting) {
    return (waiting === 1 ? "1 change of the map was" : waiting + " changes of the map were") + " not sent yet. Only this browser has " +
      (waiting === 1 ? "it" : "them") + ", and on signing out " + (waiting === 1 ? "it goes." : "they go.") + " Go on?";
  }

  document.querySelectorAll('form[action="/sign-out"], form[action="/sign-in"]').forEach(function (form) {
    var isReady = false;
    form.addEventListener("submit", function (event) {
      if (isReady || !isKept()) return;
      event.preventDefault();
      var button = event.submitter, go = function () { isReady = true; form.requestSubmit(button); };
      self.isServerReached().then(function (is) {
        if (!is) { self.alert(AWAY); return; }
        left(button && button.name === "person" ? button.value : "").then(function (may) { if (may) go(); }, go);
      });
    });
  });
})(self);

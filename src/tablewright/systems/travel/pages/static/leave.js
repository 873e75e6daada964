// Deletes the copy of the map when its traveller signs out or switches person. Loaded on every page, because every page
// has the sign-out button.
//
// Must hold: changes that only this browser has are deleted only after a confirmation; nothing is deleted while offline,
// since the sign-out cannot happen then. The map of the traveller who signs in stays. Elsewhere: the copy (store.js),
// travellers who signed in without these pages (`forgetOthers` there).
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
  var AWAY = "You're offline, so you were not signed out. The map stays in this browser until you sign out.";

  // Whether the server answers at all: `navigator.onLine` is true on any network.
  self.isServerReached = function () {
    var given = new AbortController(), timer = setTimeout(function () { given.abort(); }, PATIENCE);
    return fetch("/health", { cache: "no-store", credentials: "omit", signal: given.signal }).then(
      function () { clearTimeout(timer); return true; },
      function () { clearTimeout(timer); return false; }
    );
  };

  // The databases of all travellers except one.
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

  // Whether there may be a copy (store.js notes that). Most people who sign in here have no map.
  function isKept() {
    try { return self.localStorage.getItem("skratch") !== null && Boolean(self.indexedDB.databases); } catch (error) { return false; }
  }

  // Whether the form may be sent: the copies of other travellers are deleted, or there were none.
  async function left(person) {
    var names = await others(person), waiting = 0;
    for (var name of names) waiting += await unsent(name);
    if (waiting && !self.confirm(words(waiting))) return false;
    await Promise.all(names.map(function (name) { return asked(self.indexedDB.deleteDatabase(name)); }));
    if (names.length) await asked(self.indexedDB.deleteDatabase("skratch"));  // names the traveller whose map is shown offline
    if (!person) self.localStorage.removeItem("skratch");
    return true;
  }

  function words(waiting) {
    return (waiting === 1 ? "1 change to the map was" : waiting + " changes to the map were") + " not sent yet. Only this browser has " +
      (waiting === 1 ? "it" : "them") + ", and signing out deletes " + (waiting === 1 ? "it." : "them.") + " Sign out anyway?";
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

// The service worker: caches the files of the map, serves them offline, and sends waiting operations when the
// connection is back, even if no page is open.
//
// The server defines `VERSION`, `FILES`, `HOME`, `SHELL`, `AWAY` and `SCRIPTS` before this script. Must hold: no page of a
// person is cached; the shells have no traveller's name in them, and what they show comes from IndexedDB; a request for
// another page than the map is not answered with the map, and neither is a form that was lost on the way (sending.js
// checks before).
/* global VERSION, FILES, HOME, SHELL, AWAY, SCRIPTS */
"use strict";

self.importScripts.apply(self, SCRIPTS);

var KEPT = "skratch-" + VERSION;
var PATIENCE = 8000;

self.addEventListener("install", function (event) {
  event.waitUntil(
    caches.open(KEPT).then(function (cache) {
      return Promise.all(FILES.concat([SHELL, AWAY]).map(function (path) {
        // Without a cookie: cached files are the same for everyone.
        return fetch(path, { credentials: "omit", cache: "no-cache" }).then(function (answer) {
          if (!answer.ok) throw new Error(path + " answered " + answer.status);
          return cache.put(path, answer);
        });
      }));
    }).then(function () { return self.skipWaiting(); })
  );
});

self.addEventListener("activate", function (event) {
  event.waitUntil(
    caches.keys().then(function (names) {
      return Promise.all(names.filter(function (name) { return name.startsWith("skratch-") && name !== KEPT; })
        .map(function (name) { return caches.delete(name); }));
    }).then(function () { return self.clients.claim(); })
  );
});

self.addEventListener("fetch", function (event) {
  var url = new URL(event.request.url);
  if (url.origin !== self.location.origin) return;
  if (event.request.method === "POST" && event.request.mode === "navigate") {
    event.respondWith(fetch(event.request).catch(function () { return Response.redirect(url.pathname + "#unknown", 303); }));
  }
  if (event.request.method !== "GET") return;
  if (event.request.mode === "navigate") {
    event.respondWith(fromNetworkOrShell(event.request));
  } else if (FILES.indexOf(url.pathname + url.search) >= 0) {
    event.respondWith(caches.open(KEPT).then(function (cache) { return cache.match(event.request); })
      .then(function (kept) { return kept || fetch(event.request); }));
  }
});

// The map for a request of the map; the offline page for anything else (away.js).
function shellOf(request) {
  var path = new URL(request.url).pathname.replace(/\/$/, "");
  return path === HOME || path === SHELL ? SHELL : AWAY;
}

function fromNetworkOrShell(request) {
  var shell = function () {
    return caches.open(KEPT).then(function (cache) { return cache.match(shellOf(request)); });
  };
  return new Promise(function (resolve, reject) {
    var timer = setTimeout(function () { shell().then(function (kept) { if (kept) resolve(kept); }); }, PATIENCE);
    fetch(request).then(
      function (answer) { clearTimeout(timer); resolve(answer); },
      function (error) {
        clearTimeout(timer);
        shell().then(function (kept) { if (kept) resolve(kept); else reject(error); });
      }
    );
  });
}

// Background sync, where browsers support it: the connection is back and no page is open.
self.addEventListener("sync", function (event) {
  if (event.tag === "skratch") event.waitUntil(sendWhatWaits());
});

async function sendWhatWaits() {
  var who = await self.skratch.remembered();
  if (!who) return;
  var store = await self.skratch.openStore(who.id);
  try {
    await self.skratch.sync(store);
    new BroadcastChannel("skratch").postMessage("changed");
  } catch (stopped) {
    // Offline again: the browser tries later. Any other reason is shown when a page is opened.
    if (stopped.reason === "offline" || stopped.reason === "later") throw stopped;
  } finally {
    store.close();
  }
}

// The service worker: keeps what the map is drawn with, shows it when there is no network, and sends what waits when
// the network is back, also when no page is open.
//
// The server puts `VERSION`, `FILES`, `HOME`, `SHELL`, `AWAY` and `SCRIPTS` in front. Must hold: no page that was made for
// a person is kept; the shells have nobody's name in them, and what they show comes from IndexedDB; who asks for another
// page than the map is never given the map without a word, nor who sent a form that the network was lost over (sending.js
// asks before).
/* global VERSION, FILES, HOME, SHELL, AWAY, SCRIPTS */
"use strict";

self.importScripts.apply(self, SCRIPTS);

var KEPT = "skratch-" + VERSION;
var PATIENCE = 8000;

self.addEventListener("install", function (event) {
  event.waitUntil(
    caches.open(KEPT).then(function (cache) {
      return Promise.all(FILES.concat([SHELL, AWAY]).map(function (path) {
        // Without a cookie: what is kept is the same for everybody.
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

// The map where the map was asked for; a page that says how it is, where anything else was (away.js).
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

// Background sync, where browsers have it: the network is back and no page is open.
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
    // Offline again: the browser is asked to try later. Anything else waits for somebody to look at the page.
    if (stopped.reason === "offline" || stopped.reason === "later") throw stopped;
  } finally {
    store.close();
  }
}

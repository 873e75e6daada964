// The client side of docs/sync.md: pushes waiting operations, pulls changes. Runs in pages and in the service worker.
//
// Must hold: one tab (or the worker) syncs at a time; operations are sent only while their own traveller is signed in.
// Elsewhere: the copy (store.js).
(function (self) {
  "use strict";

  var API = "/travel/v1";
  var SCHEMA = 1, AT_ONCE = 200;

  // Why there was no sync: offline, signed-out, other-user, revoked, too-old, later, refused.
  function Stopped(reason, words, seconds) {
    this.reason = reason; this.words = words || ""; this.seconds = seconds || 0;
  }

  async function ask(device, path, body) {
    var answer;
    try {
      answer = await self.fetch(API + path, {
        method: body === undefined ? "GET" : "POST",
        credentials: "same-origin",
        cache: "no-store",
        headers: Object.assign({ "Accept": "application/json" },
          device ? { "X-Device-Id": device } : {}, body === undefined ? {} : { "Content-Type": "application/json" }),
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch (error) {
      throw new Stopped("offline");
    }
    if (answer.ok) return answer.json();
    var problem = await answer.json().catch(function () { return {}; });
    throw refusal(answer, problem);
  }

  function refusal(answer, problem) {
    var words = problem.detail || problem.message || problem.title || "";
    var stopped = new Stopped("refused", words);
    stopped.code = problem.code || "";
    // The login belongs to another device: the copy here was deleted, but the cookie was not.
    if (answer.status === 401 || stopped.code === "DEVICE_MISMATCH") stopped.reason = "signed-out";
    else if (answer.status === 426) stopped.reason = "too-old";
    else if (answer.status === 429 || answer.status >= 500 || stopped.code === "STATE_CONFLICT") {
      stopped.reason = "later";
      stopped.seconds = Number(answer.headers.get("Retry-After")) || 15;
    } else if (stopped.code === "DEVICE_REVOKED") stopped.reason = "revoked";
    return stopped;
  }

  // Registers the device, after checking that the signed-in traveller owns the copy.
  async function enroll(store, device) {
    var me = await ask(null, "/me");
    if (me.user_id !== store.user) throw new Stopped("other-user");
    await ask(null, "/me/devices", { device_id: device, name: browserName(), platform: "web", schema: SCHEMA });
    await store.setMeta("enrolled", device);
  }

  function browserName() {
    var agent = self.navigator.userAgent;
    var browser = /Firefox/.test(agent) ? "Firefox" : /Edg\//.test(agent) ? "Edge" : /Chrom/.test(agent) ? "Chrome" : /Safari/.test(agent) ? "Safari" : "Browser";
    var system = /iPhone|iPad/.test(agent) ? "iOS" : /Android/.test(agent) ? "Android" : /Mac/.test(agent) ? "Mac" : /Windows/.test(agent) ? "Windows" : /Linux/.test(agent) ? "Linux" : "this computer";
    return browser + " on " + system;
  }

  async function push(store, device) {
    for (;;) {
      var queue = await store.queue(), at = await store.at(), life = await store.life();
      if (!queue.length) return;
      // Operations from before a full resync are sent separately and without a seal: their versions are not of this feed.
      var isOld = (queue[0].life || 0) !== life;
      var waiting = queue.filter(function (one) { return ((one.life || 0) !== life) === isOld; }).slice(0, AT_ONCE);
      var pushed = await ask(device, "/sync/push", {
        schema: SCHEMA, operations: waiting.map(function (one) { return one.operation; }),
        since: at ? at.since : null, seal: isOld ? "" : at ? at.seal : null,
      });
      if (!(await store.answered(waiting, pushed.results))) return;
    }
  }

  async function pull(store, device) {
    for (;;) {
      var at = await store.at(), pulled;
      if (!at) { await resync(store, device); continue; }
      try {
        pulled = await ask(device, "/sync/pull?limit=200&schema=" + SCHEMA + "&since=" + at.since + (at.seal ? "&seal=" + encodeURIComponent(at.seal) : ""));
      } catch (stopped) {
        if (stopped.code !== "FULL_RESYNC_REQUIRED") throw stopped;
        await resync(store, device);
        continue;
      }
      if ((await store.told(at, pulled)) && !pulled.more) return;
    }
  }

  async function resync(store, device) {
    var entities = [], after = null, page;
    do {
      page = await ask(device, "/sync/snapshot?limit=200&schema=" + SCHEMA + (after ? "&after=" + encodeURIComponent(after) : ""));
      entities = entities.concat(page.entities);
      after = page.after;
    } while (after);
    await store.replaced(entities, { since: page.as_of, seal: page.seal });
  }

  async function once(store) {
    var device = await store.device();
    if ((await store.meta("enrolled")) !== device) await enroll(store, device);
    try {
      await push(store, device);
      await pull(store, device);
    } catch (stopped) {
      if (stopped.code !== "DEVICE_UNKNOWN") throw stopped;
      await enroll(store, device);
      await push(store, device);
      await pull(store, device);
    }
    await store.setMeta("synced", Date.now());
  }

  // One exchange with the server. Resolves when nothing is left to sync, rejects with Stopped.
  function sync(store) {
    return self.navigator.locks.request("skratch-sync-" + store.user, function () { return once(store); });
  }

  // A device that was signed out gets a new id and a full resync; its unsent operations stay in the queue.
  async function again(store) {
    await store.device(true);
    await store.setMeta("at", null);
    return sync(store);
  }

  Object.assign(self.skratch, { sync: sync, again: again, Stopped: Stopped });
})(self);

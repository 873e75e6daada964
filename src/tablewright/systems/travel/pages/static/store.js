// This browser's copy of one traveller's map: the state of each entity, the queue of operations without an answer, and
// results to show. In IndexedDB, one database per traveller.
//
// Must hold: an operation is in the queue from the moment it was made until its answer is written, in one transaction
// with the states of that answer; it is based on the version shown when it was made; a state replaces another only if it
// is not older. Elsewhere: the protocol (docs/sync.md), deleting the copy on sign-out (leave.js).
(function (self) {
  "use strict";

  var SETTINGS = "user";
  var CURRENT = "skratch";  // the database with the traveller whose map is shown offline

  function asked(request) {
    return new Promise(function (resolve, reject) {
      request.onsuccess = function () { resolve(request.result); };
      request.onerror = function () { reject(request.error); };
    });
  }

  function ended(transaction) {
    return new Promise(function (resolve, reject) {
      transaction.oncomplete = function () { resolve(); };
      transaction.onabort = transaction.onerror = function () { reject(transaction.error); };
    });
  }

  function opened(name, version, upgrade) {
    var request = self.indexedDB.open(name, version);
    request.onupgradeneeded = function () { upgrade(request.result); };
    return asked(request).then(function (db) {
      // A sign-out in another tab deletes the copy; this page stops showing it.
      db.onversionchange = function () {
        db.close();
        if (self.document) self.dispatchEvent(new Event("skratch-gone"));
      };
      return db;
    });
  }

  // --- whose map ---

  function browserDb() {
    return opened(CURRENT, 1, function (db) { db.createObjectStore("meta"); });
  }

  async function remember(who) {
    var db = await browserDb();
    var transaction = db.transaction("meta", "readwrite");
    transaction.objectStore("meta").put(who, "who");
    await ended(transaction);
    db.close();
  }

  async function remembered() {
    var db = await browserDb();
    var who = await asked(db.transaction("meta").objectStore("meta").get("who"));
    db.close();
    return who || null;
  }

  function name(user) { return "skratch." + user; }

  // Deletes the copies of other travellers except their unsent operations; returns how many those are. Sign-ins on the
  // console's pages ask first (leave.js); this covers sign-ins by other means.
  async function forgetOthers(user, isAll) {
    var waiting = 0, found = self.indexedDB.databases ? await self.indexedDB.databases() : [];
    for (var one of found) {
      if (!one.name.startsWith("skratch.") || one.name === name(user)) continue;
      var store = await openStore(one.name.slice("skratch.".length)), unsent = (await store.queue()).length;
      if (unsent && !isAll) { waiting += unsent; await store.emptied(); }
      store.close();
      if (!unsent || isAll) self.indexedDB.deleteDatabase(one.name);
    }
    return waiting;
  }

  // --- one traveller ---

  // Notes that there is a copy, where the sign-out script can read it synchronously.
  function hint() {
    try { self.localStorage.setItem("skratch", "kept"); } catch (error) { return; }  // a worker has none
  }

  async function openStore(user) {
    hint();
    var db = await opened(name(user), 1, function (db) {
      db.createObjectStore("states", { keyPath: "entity_id" });
      db.createObjectStore("queue", { keyPath: "place", autoIncrement: true });
      db.createObjectStore("news", { keyPath: "operation_id" });
      db.createObjectStore("meta");
    });
    return new Store(db, user);
  }

  function Store(db, user) { this.db = db; this.user = user; }

  Store.prototype.close = function () { this.db.close(); };

  Store.prototype.entity = function (type, code) {
    return type === SETTINGS ? this.user : this.user + "#" + type + "#" + code;
  };

  Store.prototype.meta = async function (key, fallback) {
    var found = await asked(this.db.transaction("meta").objectStore("meta").get(key));
    return found === undefined ? fallback : found;
  };

  Store.prototype.setMeta = function (key, value) {
    var transaction = this.db.transaction("meta", "readwrite");
    transaction.objectStore("meta").put(value, key);
    return ended(transaction);
  };

  // The device id of this browser; made once, and again only after it was signed out.
  Store.prototype.device = async function (renew) {
    var known = renew ? null : await this.meta("device");
    if (known) return known;
    var made = "web-" + self.crypto.randomUUID();
    var transaction = this.db.transaction("meta", "readwrite");
    var meta = transaction.objectStore("meta");
    var there = renew ? undefined : await asked(meta.get("device"));  // another tab may have been faster
    if (there === undefined) meta.put(made, "device");
    await ended(transaction);
    return there || made;
  };

  Store.prototype.queue = async function () {
    return asked(this.db.transaction("queue").objectStore("queue").getAll());
  };

  // Add an operation: `data` are the changed fields, `base` is the version shown then (`bases` of a view).
  Store.prototype.add = async function (kind, type, code, data, base) {
    var transaction = this.db.transaction(["queue", "meta"], "readwrite");
    var operation = {
      operation_id: self.crypto.randomUUID(),
      operation_type: kind,
      entity_type: type === SETTINGS ? "user" : "visited_place",
      client_version: base.version,
      entity_data: data || {},
      client_timestamp: new Date().toISOString(),
      previous: base.previous,
    };
    if (type !== SETTINGS) { operation.region_type = type; operation.region_code = code; }
    var life = await asked(transaction.objectStore("meta").get("life"));
    transaction.objectStore("queue").add({ entity: this.entity(type, code), operation: operation, life: base.life === undefined ? life || 0 : base.life });
    await ended(transaction);
  };

  // The answer to a push of a part of the queue: answered operations leave the queue, and their states are stored. There
  // is one result for each, in their order; a result without an id is of an operation refused for its id.
  Store.prototype.answered = async function (sent, results) {
    var transaction = this.db.transaction(["states", "queue", "news", "meta"], "readwrite");
    var resynced = (await asked(transaction.objectStore("meta").get("anew"))) || 0;
    var states = transaction.objectStore("states"), queue = transaction.objectStore("queue");
    var done = 0;
    sent.forEach(function (one, number) {
      var result = results[number];
      if (!result || result.status === "waiting") return;
      done += 1;
      queue.delete(one.place);
      result.entities.forEach(function (state) { take(states, state, resynced); });
      if (result.status === "conflict" || result.status === "failed") {
        transaction.objectStore("news").put(Object.assign({ at: Date.now() }, result, { operation_id: one.operation.operation_id }));
      }
    });
    await ended(transaction);
    return done;
  };

  // The feed version this browser has, with its seal; null before the first sync. `life` counts the full resyncs: the
  // versions in an operation from before a resync are no longer valid.
  Store.prototype.at = function () { return this.meta("at", null); };
  Store.prototype.life = function () { return this.meta("life", 0); };

  // Stores the answer to a pull, unless the feed position has moved since the pull was sent.
  Store.prototype.told = async function (from, pulled) {
    var transaction = this.db.transaction(["states", "meta"], "readwrite");
    var states = transaction.objectStore("states"), meta = transaction.objectStore("meta");
    var at = await asked(meta.get("at")), isHere = Boolean(at) && at.since === from.since && at.seal === from.seal;
    if (isHere) {
      pulled.changes.forEach(function (state) { take(states, state, 0); });
      meta.put({ since: pulled.next, seal: pulled.seal }, "at");
    }
    await ended(transaction);
    return isHere;
  };

  // Replaces everything except the queue.
  Store.prototype.replaced = async function (entities, at) {
    var transaction = this.db.transaction(["states", "meta"], "readwrite");
    var states = transaction.objectStore("states"), meta = transaction.objectStore("meta");
    states.clear();
    entities.forEach(function (state) { states.put(state); });
    meta.put(at, "at");
    meta.put(at.since, "anew");
    meta.put(((await asked(meta.get("life"))) || 0) + 1, "life");
    return ended(transaction);
  };

  // Removes everything except the queue.
  Store.prototype.emptied = function () {
    var transaction = this.db.transaction(["states", "news", "meta"], "readwrite");
    ["states", "news", "meta"].forEach(function (one) { transaction.objectStore(one).clear(); });
    return ended(transaction);
  };

  // Stores a state unless a newer one is known. For a place that was not in the last full resync, made at version `resynced`,
  // an older state is a late answer about a removed place.
  function take(states, state, resynced) {
    var known = states.get(state.entity_id);
    known.onsuccess = function () {
      var newest = known.result ? known.result.server_version : resynced + 1;
      if (newest <= state.server_version || (!known.result && !resynced)) states.put(state);
    };
  }

  Store.prototype.news = function () {
    return asked(this.db.transaction("news").objectStore("news").getAll());
  };

  Store.prototype.seen = function (operation_id) {
    var transaction = this.db.transaction("news", "readwrite");
    transaction.objectStore("news").delete(operation_id);
    return ended(transaction);
  };

  // What the pages show: the states with the queue applied.
  Store.prototype.view = async function () {
    var transaction = this.db.transaction(["states", "queue", "meta"]);
    var results = await Promise.all([
      asked(transaction.objectStore("states").getAll()),
      asked(transaction.objectStore("queue").getAll()),
      asked(transaction.objectStore("meta").get("life")),
    ]);
    // States that came with the page, for entities without a state here.
    var known = new Set(results[0].map(function (state) { return state.entity_id; }));
    var first = (this.first || []).filter(function (state) { return !known.has(state.entity_id); });
    var view = applied(this.user, first.concat(results[0]), results[1].map(function (one) { return one.operation; }));
    // A form may stay open during a full resync: its version belongs to the life in which it was shown.
    view.bases.forEach(function (base) { base.life = results[2] || 0; });
    return view;
  };

  // Pure: places by `type#code`, the settings, the number of waiting operations; `bases`: for every place, removed ones
  // included, the shown version and the last operation on it.
  function applied(user, states, queue) {
    var places = new Map(), bases = new Map(), settings = {};
    states.forEach(function (state) {
      if (state.entity_type === "user") { settings = state.data; return; }
      bases.set(key(state.data.region_type, state.data.region_code), { version: state.entity_version, previous: null });
      if (!state.is_deleted) places.set(key(state.data.region_type, state.data.region_code), Object.assign({ waits: false }, state.data));
    });
    queue.forEach(function (operation) {
      if (operation.entity_type === "user") { settings = Object.assign({}, settings, operation.entity_data); return; }
      var place = key(operation.region_type, operation.region_code);
      bases.set(place, { version: (bases.get(place) || { version: 0 }).version, previous: operation.operation_id });
      if (operation.operation_type === "delete") { places.delete(place); return; }
      var before = places.get(place) || { trips: {}, notes: null, visited_date: null, marked_at: operation.client_timestamp };
      var trips = Object.assign({}, before.trips);
      Object.entries(operation.entity_data.trips || {}).forEach(function (entry) {
        if (entry[1] === null) delete trips[entry[0]]; else trips[entry[0]] = entry[1];
      });
      places.set(place, Object.assign({}, before, operation.entity_data, {
        region_type: operation.region_type, region_code: operation.region_code, trips: trips, waits: true,
      }));
    });
    return { places: places, bases: bases, settings: settings, waiting: queue.length };
  }

  function key(type, code) { return type + "#" + code; }

  self.skratch = self.skratch || {};
  Object.assign(self.skratch, { openStore: openStore, remember: remember, remembered: remembered, forgetOthers: forgetOthers, key: key, applied: applied });
})(self);

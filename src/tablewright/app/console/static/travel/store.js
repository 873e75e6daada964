// What this browser keeps of one traveller: what it was told of each entity, what it did and was not answered for,
// and what came of that. In IndexedDB, one database for each traveller.
//
// Must hold: an operation is in the queue from the moment it was made until its answer is written, in one transaction
// with the states of that answer; a state replaces another only if it is not older. Elsewhere: docs/sync.md.
(function (self) {
  "use strict";

  var SETTINGS = "user";
  var CURRENT = "skratch";  // the database that says whose map this browser shows without a network

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
      db.onversionchange = function () { db.close(); };
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

  // Nobody's map is shown without a network any more. What was not sent yet is kept for when its owner comes back.
  async function forget() {
    var who = await remembered();
    await remember(null);
    if (!who) return;
    var store = await openStore(who.id);
    var waiting = await store.queue();
    store.close();
    if (!waiting.length) self.indexedDB.deleteDatabase(name(who.id));
  }

  function name(user) { return "skratch." + user; }

  // --- one traveller ---

  async function openStore(user) {
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

  // The device this browser is; made once, and made anew only if it was signed out.
  Store.prototype.device = async function (anew) {
    var known = anew ? null : await this.meta("device");
    if (known) return known;
    var made = "web-" + self.crypto.randomUUID();
    var transaction = this.db.transaction("meta", "readwrite");
    var meta = transaction.objectStore("meta");
    var there = anew ? undefined : await asked(meta.get("device"));  // another tab may have been faster
    if (there === undefined) meta.put(made, "device");
    await ended(transaction);
    return there || made;
  };

  Store.prototype.queue = async function () {
    return asked(this.db.transaction("queue").objectStore("queue").getAll());
  };

  // Do something: `data` are the fields that change. Says the operation as it waits now.
  Store.prototype.add = async function (kind, type, code, data) {
    var transaction = this.db.transaction(["states", "queue"], "readwrite");
    var entity = this.entity(type, code);
    var state = await asked(transaction.objectStore("states").get(entity));
    var waiting = await asked(transaction.objectStore("queue").getAll());
    var before = waiting.filter(function (one) { return one.entity === entity; }).pop();
    var operation = {
      operation_id: self.crypto.randomUUID(),
      operation_type: kind,
      entity_type: type === SETTINGS ? "user" : "visited_place",
      client_version: state ? state.entity_version : 0,
      entity_data: data || {},
      client_timestamp: new Date().toISOString(),
      previous: before ? before.operation.operation_id : null,
    };
    if (type !== SETTINGS) { operation.region_type = type; operation.region_code = code; }
    transaction.objectStore("queue").add({ entity: entity, operation: operation });
    await ended(transaction);
    return operation;
  };

  // The answer to a push: what was answered leaves the queue with the states it left behind.
  Store.prototype.answered = function (results) {
    var transaction = this.db.transaction(["states", "queue", "news"], "readwrite");
    var states = transaction.objectStore("states"), queue = transaction.objectStore("queue");
    var done = new Map(results.filter(function (one) { return one.status !== "waiting"; })
      .map(function (one) { return [one.operation_id, one]; }));
    var listing = queue.getAll();
    listing.onsuccess = function () {
      listing.result.forEach(function (one) {
        if (done.has(one.operation.operation_id)) queue.delete(one.place);
      });
    };
    done.forEach(function (result) {
      result.entities.forEach(function (state) { take(states, state); });
      if (result.status === "conflict" || result.status === "failed") {
        transaction.objectStore("news").put(Object.assign({ at: Date.now() }, result));
      }
    });
    return ended(transaction).then(function () { return done.size; });
  };

  // What a pull told; one that was asked from elsewhere than where we are now is too late.
  Store.prototype.told = async function (asked_from, pulled) {
    var transaction = this.db.transaction(["states", "meta"], "readwrite");
    var states = transaction.objectStore("states"), meta = transaction.objectStore("meta");
    var since = (await asked(meta.get("since"))) || 0;
    if (since === asked_from) {
      pulled.changes.forEach(function (state) { take(states, state); });
      meta.put(pulled.next, "since");
    }
    await ended(transaction);
    return since === asked_from;
  };

  // Everything anew, but for the queue.
  Store.prototype.replaced = function (entities, as_of) {
    var transaction = this.db.transaction(["states", "meta"], "readwrite");
    var states = transaction.objectStore("states");
    states.clear();
    entities.forEach(function (state) { states.put(state); });
    transaction.objectStore("meta").put(as_of, "since");
    return ended(transaction);
  };

  function take(states, state) {
    var known = states.get(state.entity_id);
    known.onsuccess = function () {
      if (!known.result || known.result.server_version <= state.server_version) states.put(state);
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

  // What is shown: the states with the queue applied.
  Store.prototype.view = async function () {
    var transaction = this.db.transaction(["states", "queue"]);
    var results = await Promise.all([
      asked(transaction.objectStore("states").getAll()),
      asked(transaction.objectStore("queue").getAll()),
    ]);
    return applied(this.user, results[0], results[1].map(function (one) { return one.operation; }));
  };

  // Pure: places by `type#code`, the settings, and how many operations wait.
  function applied(user, states, queue) {
    var places = new Map(), settings = {};
    states.forEach(function (state) {
      if (state.entity_type === "user") settings = state.data;
      else if (!state.is_deleted) places.set(key(state.data.region_type, state.data.region_code), Object.assign({ waits: false }, state.data));
    });
    queue.forEach(function (operation) {
      if (operation.entity_type === "user") { settings = Object.assign({}, settings, operation.entity_data); return; }
      var place = key(operation.region_type, operation.region_code);
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
    return { places: places, settings: settings, waiting: queue.length };
  }

  function key(type, code) { return type + "#" + code; }

  self.skratch = self.skratch || {};
  Object.assign(self.skratch, { openStore: openStore, remember: remember, remembered: remembered, forget: forget, key: key, applied: applied });
})(self);

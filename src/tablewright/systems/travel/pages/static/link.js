// Keeps a page in sync with the server and with other tabs: when to sync, and the status text.
//
// Elsewhere: how (sync.js), what is kept (store.js).
(function (self) {
  "use strict";

  var EVERY = 30000, RETRY = 3000, SOON = 250;

  // `changed()` is called whenever the copy may have changed; `status` is the element with the status text.
  function Link(store, status, changed) {
    this.store = store; this.status = status; this.changed = changed; this.timer = null; this.isBusy = false; this.again = false; this.hasSpoken = false;
    this.channel = new BroadcastChannel("skratch");
    var link = this;
    this.channel.onmessage = function () { link.changed(); link.tell(); };
    self.addEventListener("online", function () { link.soon(0); });
    self.addEventListener("offline", function () { link.reason = "offline"; link.tell(); });
    document.addEventListener("visibilitychange", function () { if (!document.hidden) link.soon(0); });
    self.addEventListener("skratch-gone", function () { link.isGone = true; link.channel.close(); self.clearTimeout(link.timer); });
    // What was under way when the copy was closed fails; there is nothing left to do about it.
    self.addEventListener("unhandledrejection", function (event) {
      if (link.isGone && event.reason && event.reason.name === "InvalidStateError") event.preventDefault();
    });
  }

  // Sync after a pause. A sync that is due earlier stays: the pause after one exchange must not delay a change that was
  // made while its answer was processed.
  Link.prototype.soon = function (wait) {
    var link = this, pause = wait === undefined ? SOON : wait, due = self.performance.now() + pause;
    if (this.isGone || (this.timer !== null && this.due <= due)) return;
    self.clearTimeout(this.timer);
    this.due = due;
    this.timer = self.setTimeout(function () { link.timer = null; link.run(); }, pause);
  };

  Link.prototype.run = async function () {
    if (this.isBusy) { this.again = true; return; }
    this.isBusy = true; this.again = false;
    try {
      await self.skratch.sync(this.store);
      this.reason = null; this.store.first = null;
    } catch (stopped) {
      if (this.isGone) return;
      if (!stopped.reason) { this.isBusy = false; throw stopped; }
      this.reason = stopped.reason; this.words = stopped.words; this.seconds = stopped.seconds;
      if (stopped.reason === "offline") wakeLater();
    }
    this.isBusy = false; this.hasSpoken = true;
    if (this.isGone) return;
    this.channel.postMessage("changed");
    await this.changed();
    await this.tell();
    if (this.again) this.soon(0);
    else if (!this.reason) this.soon(document.hidden ? 10 * EVERY : EVERY);
    else if (this.reason === "offline") this.soon(navigator.onLine ? RETRY : EVERY);
    else if (this.reason === "later") this.soon(this.seconds * 1000);
    // A refused sync may succeed later without any action by the traveller.
    else if (this.reason === "refused") this.soon(EVERY);
  };

  // Where browsers support it, the worker sends waiting changes even after this page was closed.
  function wakeLater() {
    if (!navigator.serviceWorker) return;
    navigator.serviceWorker.ready.then(function (registration) {
      if (registration.sync) registration.sync.register("skratch").catch(function () {});
    });
  }

  Link.prototype.tell = async function () {
    if (this.isGone) return;
    var waiting = (await this.store.queue()).length;
    var some = waiting === 1 ? "1 change is waiting" : waiting + " changes are waiting";
    var text = {
      offline: waiting ? "You're offline. " + some + " on this device and will be sent later." : "You're offline. What you mark is saved on this device and sent later.",
      "signed-out": "You're signed out. " + (waiting ? some + " here until you sign in." : "Sign in to sync."),
      "other-user": "Someone else is signed in now, so nothing is sent from this page.",
      revoked: "This browser was signed out from your list of devices." + (waiting ? " " + some + " here." : ""),
      "too-old": this.words, refused: this.words,
      later: waiting ? some + ". The server is busy; trying again." : "The server is busy; trying again.",
    }[this.reason] || (waiting ? "Sending…" : this.hasSpoken ? "Everything is saved" : "Checking for changes…");
    var tone = !this.reason ? (waiting || !this.hasSpoken ? "busy" : "good") : this.reason === "offline" || this.reason === "later" ? "warn" : "bad";
    if (this.status.textContent !== text) this.status.textContent = text;
    this.status.className = "sync-state " + tone;
    this.status.dataset.waiting = String(waiting);
    this.status.dataset.state = this.reason || (waiting ? "sending" : this.hasSpoken ? "saved" : "opening");
    this.action();
  };

  // The button that helps, if there is one.
  Link.prototype.action = function () {
    var link = this;
    if (this.reason === "signed-out") this.button("Sign in", function () { self.location.href = "/console/travel/sign-in?next=/console/travel"; });
    if (this.reason === "revoked") this.button("Use this browser again", async function () {
      await self.skratch.again(link.store).catch(function () {});
      link.soon(0);
    });
  };

  Link.prototype.button = function (words, press) {
    var made = document.createElement("button");
    made.type = "button"; made.className = "link"; made.textContent = words;
    made.addEventListener("click", press);
    this.status.append(" ", made);
  };

  // --- whose browser this is ---

  // The traveller of this page: the signed-in one, or offline the last one. Of other travellers only the unsent changes
  // are kept: `others` is their number.
  async function traveller(root) {
    if (root.dataset.user) {
      var who = { id: root.dataset.user, name: root.dataset.name };
      await self.skratch.remember(who);
      who.others = await self.skratch.forgetOthers(who.id);
      return who;
    }
    return self.skratch.remembered();
  }

  Object.assign(self.skratch, { Link: Link, traveller: traveller });
})(self);

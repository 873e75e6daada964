// Uploads: files are sent in parts, can be paused, and go on after a lost connection or a reload.
//
//   <section data-upload data-begin="/campus/v1/files" data-uploads="/campus/v1/uploads" data-folder="..." data-headers="{}">
//     <input type="file" data-choose multiple> <button data-drop>...</button> <ul data-list></ul> <p data-said></p>
//
// Must hold: a part that the server has is not sent again, if it has the checksum of the same part of the chosen file;
// all others are, so that a file of the same name and size never becomes a mixture of two. A file is visible when all
// of it has arrived. Elsewhere: slots, parts and completion (api/files.py).
(function (self) {
  "use strict";

  var AT_ONCE = 3, TRIES = 6, FIRST_PAUSE = 1000;
  var CHANGING = [".head", ".quota", ".facts", "#listing"], CHECK_PAUSES = [1000, 2000, 4000, 8000, 15000, 30000];

  function start() {
    document.querySelectorAll("[data-upload]").forEach(function (root) {
      if (!root.dataset.ready) { root.dataset.ready = "yes"; new Uploads(root); }
    });
  }

  // --- requests ---

  function Refused(problem, status) { this.message = problem.message || "The server refused this."; this.problem = problem; this.status = status; }

  async function ask(root, method, url, body) {
    var headers = Object.assign({ Accept: "application/json" }, JSON.parse(root.dataset.headers || "{}"));
    if (body !== undefined) headers["Content-Type"] = "application/json";
    var answer = await fetch(url, { method: method, headers: headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin" });
    var found = answer.status === 204 ? {} : await answer.json().catch(function () { return {}; });
    if (!answer.ok) throw new Refused(found, answer.status);
    return found;
  }

  // A part, with its progress: fetch does not report that for what is sent.
  function sendPart(target, blob, told, job) {
    return new Promise(function (done, failed) {
      var call = new XMLHttpRequest();
      job.calls.add(call);
      call.open("PUT", target.url);
      Object.keys(target.headers).forEach(function (name) { call.setRequestHeader(name, target.headers[name]); });
      call.upload.onprogress = function (event) { told(event.loaded); };
      call.onload = function () {
        job.calls.delete(call);
        if (call.status < 300) { told(blob.size); done(); return; }
        var problem = {};
        try { problem = JSON.parse(call.responseText); } catch (not_json) { /* a proxy's page */ }
        failed(new Refused(problem, call.status));
      };
      call.onerror = call.onabort = function () { job.calls.delete(call); told(0); failed(new Error("connection")); };
      call.send(blob);
    });
  }

  async function digestOf(blob) {
    if (!self.crypto || !self.crypto.subtle) return null;
    return new Uint8Array(await self.crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
  }

  function base64(bytes) { return btoa(String.fromCharCode.apply(null, bytes)); }
  function hex(bytes) { return Array.from(bytes, function (one) { return one.toString(16).padStart(2, "0"); }).join(""); }
  function pause(ms) { return new Promise(function (done) { setTimeout(done, ms); }); }

  // --- all uploads of a page ---

  function Uploads(root) {
    var it = this;
    it.root = root;
    it.list = root.querySelector("[data-list]");
    it.jobs = [];
    it.known = Array.from(root.querySelectorAll("[data-unfinished]"));
    it.folders = {};
    it.running = false;
    it.relays = false;
    root.querySelectorAll("[data-choose]").forEach(function (input) {
      input.addEventListener("change", function () {
        it.add(Array.from(input.files, function (file) { return { file: file, path: (file.webkitRelativePath || "").split("/").slice(0, -1) }; }));
        input.value = "";
      });
    });
    root.querySelectorAll("[data-discard]").forEach(function (button) {
      button.addEventListener("click", function () { it.discard(button); });
    });
    it.acceptDrops();
    self.addEventListener("beforeunload", function (event) { if (it.running) event.preventDefault(); });
  }

  Uploads.prototype.acceptDrops = function () {
    var it = this, zone = it.root.querySelector("[data-drop]");
    if (!zone) return;
    var depth = 0;
    document.addEventListener("dragenter", function (event) { if (hasFiles(event)) { depth += 1; zone.classList.add("is-over"); } });
    document.addEventListener("dragleave", function () { depth = Math.max(0, depth - 1); if (!depth) zone.classList.remove("is-over"); });
    document.addEventListener("dragover", function (event) { if (hasFiles(event)) event.preventDefault(); });
    document.addEventListener("drop", async function (event) {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      zone.classList.remove("is-over");
      var entries = Array.from(event.dataTransfer.items, function (item) { return item.webkitGetAsEntry && item.webkitGetAsEntry(); }).filter(Boolean);
      if (!entries.length) { it.add(Array.from(event.dataTransfer.files, function (file) { return { file: file, path: [] }; })); return; }
      var found = [];
      for (var entry of entries) await walk(entry, [], found);
      it.add(found);
    });
  };

  function hasFiles(event) { return event.dataTransfer && Array.from(event.dataTransfer.types).includes("Files"); }

  // The files of a dropped folder, each with the names of the folders above it.
  async function walk(entry, path, found) {
    if (entry.isFile) {
      var file = await new Promise(function (done, failed) { entry.file(done, failed); });
      found.push({ file: file, path: path });
      return;
    }
    var reader = entry.createReader(), some;
    do {
      some = await new Promise(function (done, failed) { reader.readEntries(done, failed); });
      for (var child of some) await walk(child, path.concat(entry.name), found);
    } while (some.length);
  }

  Uploads.prototype.add = function (chosen) {
    var it = this;
    chosen.forEach(function (one) { it.jobs.push(new Job(it, one.file, one.path)); });
    it.run();
  };

  Uploads.prototype.say = function (words) { this.root.querySelector("[data-said]").textContent = words; };

  Uploads.prototype.run = async function () {
    if (this.running) return;
    this.running = true;
    var job, done = 0;
    while ((job = this.jobs.find(function (one) { return one.state === "waiting"; }))) {
      await job.run();
      if (job.state === "done") done += 1;
    }
    this.running = false;
    if (done) { this.say(done === 1 ? "1 file is uploaded." : done + " files are uploaded."); await this.refresh(); }
  };

  // The parts of the page that an upload changes, as they are now, without losing what is shown of uploads; and again
  // while a file is being checked.
  Uploads.prototype.refresh = async function (pauses) {
    var it = this, left = pauses || CHECK_PAUSES;
    if (!document.getElementById("listing")) return;
    var answer = await fetch(self.location.href, { credentials: "same-origin" });
    if (!answer.ok) return;
    var page = new DOMParser().parseFromString(await answer.text(), "text/html");
    CHANGING.forEach(function (each) {
      var old = document.querySelector(each), fresh = page.querySelector(each);
      if (old && fresh) old.replaceWith(document.importNode(fresh, true));
    });
    clearTimeout(it.again);
    if (left.length && page.querySelector("[data-checking]")) it.again = setTimeout(function () { it.refresh(left.slice(1)); }, left[0]);
  };

  Uploads.prototype.discard = async function (button) {
    var row = button.closest("[data-unfinished]");
    try { await ask(this.root, "DELETE", this.root.dataset.uploads + "/" + row.dataset.unfinished); } catch (gone) { /* it has expired */ }
    this.forget(row);
  };

  Uploads.prototype.forget = function (row) {
    this.known = this.known.filter(function (one) { return one !== row; });
    var section = row.closest("[data-unfinished-list]");
    row.remove();
    if (section && !section.querySelector("[data-unfinished]")) section.remove();
  };

  // The folder with these names below that of the page; it is created if it is missing.
  Uploads.prototype.folderOf = async function (path) {
    var here = this.root.dataset.folder || null;
    if (!path.length || !this.root.dataset.folders) return here;
    var key = path.join("/");
    if (!this.folders[key]) {
      var parent = await this.folderOf(path.slice(0, -1)), name = path[path.length - 1], url = this.root.dataset.folders;
      try { this.folders[key] = (await ask(this.root, "POST", url, { name: name, parentId: parent })).folderId; }
      catch (refused) {
        if (!refused.problem || refused.problem.code !== "FOLDER_EXISTS") throw refused;
        var there = (await ask(this.root, "GET", url)).items;
        this.folders[key] = there.find(function (one) { return (one.parentId || null) === parent && one.name.toLowerCase() === name.toLowerCase(); }).folderId;
      }
    }
    return this.folders[key];
  };

  // --- one upload ---

  function Job(all, file, path) {
    this.all = all; this.file = file; this.path = path;
    this.state = "waiting";  // running, paused, done, failed, cancelled
    this.calls = new Set();
    this.sent = {};
    this.shown = row(this);
    all.list.append(this.shown.item);
    this.show("Waiting");
  }

  function row(job) {
    var item = document.createElement("li"), name = document.createElement("span"), said = document.createElement("span");
    var bar = document.createElement("progress"), buttons = document.createElement("span");
    item.className = "upload"; name.className = "upload-name"; said.className = "upload-said"; buttons.className = "upload-buttons";
    name.textContent = job.path.concat(job.file.name).join("/");
    bar.max = 1; bar.value = 0;
    bar.setAttribute("aria-label", "Upload of " + job.file.name);
    said.setAttribute("role", "status");
    var hold = button("Pause", function () { if (job.state === "paused" || job.state === "failed") job.resume(); else job.hold(); });
    var stop = button("Cancel", function () { job.cancel(); });
    buttons.append(hold, stop);
    item.append(name, bar, said, buttons);
    return { item: item, bar: bar, said: said, hold: hold, stop: stop };
  }

  function button(words, act) {
    var made = document.createElement("button");
    made.type = "button"; made.className = "button quiet"; made.textContent = words;
    made.addEventListener("click", act);
    return made;
  }

  Job.prototype.show = function (words) {
    var size = this.file.size, sent = Object.values(this.sent).reduce(function (sum, one) { return sum + one; }, 0);
    var share = size ? Math.min(1, sent / size) : this.state === "done" ? 1 : 0;
    this.shown.bar.value = this.state === "done" ? 1 : share;
    this.shown.said.textContent = words || Math.floor(share * 100) + " % of " + sizeWords(size);
    this.shown.item.dataset.state = this.state;
    this.shown.hold.textContent = this.state === "paused" || this.state === "failed" ? "Resume" : "Pause";
    this.shown.hold.hidden = this.shown.stop.hidden = this.state === "done" || this.state === "cancelled";
  };

  // Three figures in powers of 1024, as the server writes sizes.
  function sizeWords(size) {
    var units = ["B", "KB", "MB", "GB", "TB"], step = 0;
    while (size >= 1023.5 && step < 4) { size /= 1024; step += 1; }
    return (!step || size >= 99.95 ? Math.round(size) : Number(size.toPrecision(3))) + " " + units[step];
  }

  Job.prototype.run = async function () {
    this.state = "running";
    this.show();
    try {
      if (!this.isSent) {
        this.slot = this.slot ? await ask(this.all.root, "GET", this.url()) : await this.find();
        if (this.state === "cancelled") { await this.abandon(); return; }  // before its room was reserved
        await this.parts(await this.missing());
        if (this.state !== "running") return;
        this.isSent = true;  // its completion may have succeeded although the answer was lost: ask that again
      }
      var file = await this.complete();
      this.state = "done";
      this.show("Uploaded");
      if (file && file.fileId) this.shown.item.dataset.file = file.fileId;
    } catch (trouble) {
      if (this.state !== "running") return;
      this.state = "failed";
      if (trouble.status === 410 || trouble.status === 404) { this.slot = null; this.isSent = false; }
      this.show(trouble instanceof Refused ? trouble.message : "The connection was lost. Resume when you are online again.");
    }
  };

  Job.prototype.url = function () { return this.all.root.dataset.uploads + "/" + this.slot.uploadId; };

  // The slot of an upload that was begun before, for a file of the same name and size; else a new one.
  Job.prototype.find = async function () {
    var it = this, root = this.all.root;
    var row = it.all.known.find(function (one) { return one.dataset.name === it.file.name.normalize("NFC") && Number(one.dataset.size) === it.file.size; });
    if (row) {
      it.all.forget(row);
      try { return await ask(root, "GET", root.dataset.uploads + "/" + row.dataset.unfinished); }
      catch (gone) { if (gone.status !== 410 && gone.status !== 404) throw gone; }
    }
    var body = { filename: it.file.name, fileSize: it.file.size };
    if (/^[\w.+-]+\/[\w.+-]+$/.test(it.file.type)) body.contentType = it.file.type;
    if (root.dataset.assignment) body.assignmentId = root.dataset.assignment;
    if (root.dataset.begin.endsWith("/versions")) delete body.filename;
    else {
      var folder = await it.all.folderOf(it.path);
      if (folder) body.folderId = folder;
    }
    return ask(root, "POST", root.dataset.begin, body);
  };

  Job.prototype.slice = function (number) {
    var size = this.slot.partSize;
    return this.file.slice((number - 1) * size, number * size);
  };

  // The parts to send: all but those that the server has with the same checksum.
  Job.prototype.missing = async function () {
    var wanted = [], there = this.slot.digests || {};
    this.sent = {};
    for (var number = 1; number <= this.slot.partCount; number += 1) {
      var known = there[number], digest = known ? await digestOf(this.slice(number)) : null;
      if (digest && hex(digest) === known) this.sent[number] = this.slice(number).size;
      else wanted.push(number);
    }
    this.shown.item.dataset.kept = this.slot.partCount - wanted.length;
    return wanted;
  };

  Job.prototype.parts = async function (numbers) {
    var it = this, left = numbers.slice();
    async function lane() {
      while (left.length && it.state === "running") await it.part(left.shift());
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  };

  Job.prototype.part = async function (number) {
    var it = this, blob = it.slice(number), digest = await digestOf(blob);
    var told = function (sent) { it.sent[number] = Math.min(sent, blob.size); if (it.state === "running") it.show(); };
    var isDirect = it.slot.direct && digest && !it.all.relays, isRelayed = false;
    for (var tried = 0; it.state === "running"; tried += 1) {
      try {
        await sendPart(isDirect ? await it.signed(number, digest) : it.own(number, digest), blob, told, it);
        if (isRelayed) it.all.relays = true;
        return;
      } catch (trouble) {
        told(0);
        if (it.state !== "running") return;
        if (isDirect) { isDirect = false; isRelayed = true; continue; }
        var isFinal = trouble.status && trouble.status < 500 && trouble.status !== 408 && trouble.status !== 429;
        if (isFinal || tried + 1 >= TRIES) throw trouble;
        await pause(FIRST_PAUSE * Math.pow(2, tried));
      }
    }
  };

  // Where a part is sent: to our server,
  Job.prototype.own = function (number, digest) {
    var headers = Object.assign({ "Content-Type": "application/octet-stream" }, JSON.parse(this.all.root.dataset.headers || "{}"));
    if (digest) headers["Content-Digest"] = "sha-256=:" + base64(digest) + ":";
    return { url: this.url() + "/parts/" + number, headers: headers };
  };

  // or straight to the bucket, with a request that the server has signed for these bytes. If only our server takes a part,
  // because the bucket has no rule for our origin for instance, all further parts of this page go through it.
  Job.prototype.signed = async function (number, digest) {
    return (await ask(this.all.root, "POST", this.url() + "/parts:sign", { parts: [{ number: number, checksum: hex(digest) }] })).items[0];
  };

  Job.prototype.complete = async function () {
    for (var tried = 0; ; tried += 1) {
      try { return await ask(this.all.root, "POST", this.url() + ":complete", {}); }
      catch (refused) {
        if (tried || !refused.problem || refused.problem.code !== "PARTS_MISSING") throw refused;
        await this.parts(refused.problem.parts);
      }
    }
  };

  Job.prototype.hold = function () {
    this.state = "paused";
    this.calls.forEach(function (call) { call.abort(); });
    this.show("Paused");
  };

  Job.prototype.resume = function () {
    this.state = "waiting";
    this.show("Waiting");
    this.all.run();
  };

  // Without this its room stays reserved until it expires.
  Job.prototype.abandon = async function () {
    try { await ask(this.all.root, "DELETE", this.url()); } catch (gone) { /* it expires */ }
  };

  Job.prototype.cancel = async function () {
    if (this.state === "done" || this.state === "cancelled") return;
    this.state = "cancelled";
    this.calls.forEach(function (call) { call.abort(); });
    this.show("Cancelled");
    if (this.slot) await this.abandon();
  };

  document.addEventListener("DOMContentLoaded", start);
  document.addEventListener("htmx:load", start);
})(window);

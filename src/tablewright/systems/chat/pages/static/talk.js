// A chat that writes while the animal answers. Without this script the form posts and the page loads again.
// Each message has an id of its own: sent again with it, the message is stored once and answered once.
(function () {
  "use strict";
  var talk = document.querySelector("[data-talk]");
  var form = talk && talk.querySelector(".write");
  if (!form) return;
  var list = talk.querySelector(".messages"), box = form.querySelector("textarea"), key = form.querySelector("[name=key]");
  var error = document.getElementById("e-text"), button = form.querySelector("button");
  var last = talk.querySelector(".last-turn");

  function newKey() {
    var bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, function (each) { return each.toString(16).padStart(2, "0"); }).join("");
  }

  function toEnd() {
    window.scrollTo(0, document.documentElement.scrollHeight);
  }

  function add(kind, text) {
    var row = document.createElement("li"), bubble = document.createElement("div");
    row.className = kind;
    bubble.className = "bubble";
    bubble.textContent = text;
    if (kind === "theirs") {
      var picture = document.createElement("img");
      picture.className = "portrait small";
      picture.src = talk.dataset.portrait;
      picture.alt = "";
      row.append(picture);
    }
    row.append(bubble);
    list.append(row);
    toEnd();
    return bubble;
  }

  function refuse(words) {
    error.textContent = words;
    error.hidden = !words;
    box.toggleAttribute("aria-invalid", !!words);
  }

  // Events of a stream, one at a time: lines up to an empty one.
  async function each(answer, done) {
    var reader = answer.body.pipeThrough(new TextDecoderStream()).getReader(), rest = "", name = "message", data = [];
    for (;;) {
      var chunk = await reader.read();
      if (chunk.done) return;
      rest += chunk.value;
      for (var end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
        var line = rest.slice(0, end).replace(/\r$/, "");
        rest = rest.slice(end + 1);
        if (line === "") {
          if (data.length) done(name, JSON.parse(data.join("\n")));
          name = "message";
          data = [];
        } else if (line.startsWith("event:")) name = line.slice(6).trim();
        else if (line.startsWith("data:")) data.push(line.slice(5).trim());
      }
    }
  }

  // Returns once the reply is stored. What is refused before anything is stored is thrown.
  async function send(text, id) {
    var answer = await fetch(talk.dataset.talk, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ text: text, clientMessageId: id }),
    });
    if (!answer.ok) {
      var problem = await answer.json().catch(function () { return {}; });
      throw new Error(problem.detail || problem.message || "That didn't work. Try again.");
    }
    var bubble = null, ended = false, reply = null;
    function say(words) {
      bubble = bubble || add("theirs", "");
      bubble.textContent = words;
      toEnd();
    }
    await each(answer, function (name, said) {
      if (name === "notice") add("note", said.text);
      else if (name === "delta") say((bubble ? bubble.textContent : "") + said.text);
      else if (name === "replace") say(said.text);
      else if (name === "failed") say(said.text);
      else if (name === "done") {
        say(said.reply.text); // what is stored, whatever the parts were
        reply = said.reply.messageId;
      }
      if (name === "failed" || name === "done") ended = name;
    });
    if (reply) await complete(bubble.parentNode, reply);
    if (ended !== "done") {
      if (!ended) say(talk.dataset.animal + " was cut off.");
      bubble.classList.add("failed");
      offer(bubble, text, id);
    }
  }

  // The row of the reply as the page has it, with its thumbs, and the buttons of the last turn. Without them the reply
  // is whole too.
  async function complete(row, id) {
    try {
      var answer = await fetch(location.pathname, { credentials: "same-origin" });
      if (!answer.ok) return;
      var page = new DOMParser().parseFromString(await answer.text(), "text/html");
      var stored = page.querySelector('[data-message="' + CSS.escape(id) + '"]'), turn = page.querySelector(".last-turn");
      if (stored) row.replaceWith(document.adoptNode(stored));
      if (last) last.remove();
      last = turn && document.adoptNode(turn);
      if (last) list.after(last);
      toEnd();
    } catch (offline) {
      return;
    }
  }

  // The message is stored; asked again with the same id it gets one reply.
  function offer(bubble, text, id) {
    var again = document.createElement("button");
    again.type = "button";
    again.className = "button small";
    again.textContent = "Ask again";
    again.addEventListener("click", function () {
      bubble.parentNode.remove();
      run(text, id);
    });
    bubble.append(document.createElement("br"), again);
  }

  function run(text, id, mine) {
    refuse("");
    button.disabled = true;
    return send(text, id).catch(function (wrong) {
      if (mine) mine.parentNode.remove();
      if (!box.value) box.value = text;
      key.value = id;
      refuse(wrong instanceof TypeError ? "There is no connection. Send it again when you are online." : wrong.message);
    }).finally(function () {
      button.disabled = false;
      box.focus();
    });
  }

  form.addEventListener("submit", function (event) {
    event.preventDefault();
    var text = box.value.trim(), id = key.value;
    if (!text || button.disabled) return;
    box.value = "";
    key.value = newKey();
    if (last) last.remove(); // its buttons are about the turn before
    run(text, id, add("mine", text));
  });
  box.addEventListener("keydown", function (event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  toEnd();
})();

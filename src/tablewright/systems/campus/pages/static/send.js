// Sends files through a file request, in parts that can be resumed. The ticket of the sender stays in this browser.

const form = document.querySelector("form[data-send]");
const at = form.dataset.send;
const list = document.querySelector("[data-sent]");
const none = document.querySelector("[data-none]");
const fault = document.querySelector("[data-error]");

function stored(name) {
  return window.localStorage.getItem(`${form.dataset.key}-${name}`);
}

function store(name, text) {
  window.localStorage.setItem(`${form.dataset.key}-${name}`, text);
}

function fail(message) {
  fault.textContent = message;
  fault.hidden = !message;
}

async function call(method, path, body) {
  const headers = {};
  if (stored("ticket")) headers["X-Drop-Ticket"] = stored("ticket");
  const isJson = body !== undefined && !(body instanceof Blob);
  if (isJson) headers["Content-Type"] = "application/json";
  const answer = await fetch(at + path, { method, headers, body: isJson ? JSON.stringify(body) : body });
  if (answer.status === 204) return null;
  const content = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(content.message), { code: content.code, status: answer.status });
  return content;
}

function size(bytes) {
  return bytes < 1000 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function row(name, note) {
  const item = document.createElement("li");
  const text = document.createElement("span");
  text.textContent = `${name} `;
  const about = document.createElement("span");
  about.className = "fine";
  about.textContent = note;
  item.append(text, about);
  list.prepend(item);
  none.hidden = true;
  return { item, about };
}

async function enter() {
  const known = stored("ticket") && stored("name") === form.elements.name.value.trim();
  if (known) return;
  window.localStorage.removeItem(`${form.dataset.key}-ticket`);
  const password = form.elements.password ? form.elements.password.value : undefined;
  const sender = await call("POST", "/senders", { name: form.elements.name.value, password });
  store("ticket", sender.ticket);
  store("name", form.elements.name.value.trim());
}

async function slotOf(file) {
  const key = `upload-${file.name}-${file.size}-${file.lastModified}`;
  if (stored(key)) {
    try {
      return await call("GET", `/uploads/${stored(key)}`);
    } catch (error) {
      window.localStorage.removeItem(`${form.dataset.key}-${key}`);
    }
  }
  const slot = await call("POST", "/uploads", { filename: file.name, fileSize: file.size, contentType: file.type || "application/octet-stream" });
  store(key, slot.uploadId);
  return slot;
}

async function send(file) {
  const { item, about } = row(file.name, "waiting");
  const bar = document.createElement("progress");
  bar.max = 1;
  bar.setAttribute("aria-label", `Sending ${file.name}`);
  item.append(bar);
  try {
    const slot = await slotOf(file);
    for (let number = 1; number <= slot.partCount; number += 1) {
      if (!slot.parts.includes(number)) {
        const part = file.slice((number - 1) * slot.partSize, number * slot.partSize);
        await call("PUT", `/uploads/${slot.uploadId}/parts/${number}`, part);
      }
      bar.value = number / slot.partCount;
      about.textContent = `${Math.round((100 * number) / slot.partCount)} %`;
    }
    const sent = await call("POST", `/uploads/${slot.uploadId}:complete`, {});
    window.localStorage.removeItem(`${form.dataset.key}-upload-${file.name}-${file.size}-${file.lastModified}`);
    about.textContent = `${size(sent.fileSize)}, received`;
  } catch (error) {
    about.textContent = `not sent: ${error.message}`;
    throw error;
  } finally {
    bar.remove();
  }
}

async function known() {
  if (!stored("ticket")) return;
  form.elements.name.value = stored("name") || "";
  try {
    const page = await call("GET", "/files");
    page.items.reverse().forEach((each) => row(each.filename, `${size(each.fileSize)}, received`));
  } catch (error) {
    window.localStorage.removeItem(`${form.dataset.key}-ticket`);
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  fail("");
  const files = [...form.elements.files.files];
  if (!form.elements.name.value.trim()) return fail("Enter your name.");
  if (!files.length) return fail("Choose one or more files.");
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    await enter();
    for (const file of files) await send(file);
    form.elements.files.value = "";
  } catch (error) {
    fail(error.message);
  } finally {
    button.disabled = false;
  }
});

known();

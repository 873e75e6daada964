// On the page to submit: what was uploaded is added to the parts as soon as all uploads are done.
// Elsewhere: the uploads themselves (upload.js), which mark each row with its state and the id of its file.
"use strict";
const form = document.querySelector("form.add-part");
const list = document.querySelector("[data-upload] [data-list]");
if (form && list) {
  let isSent = false;
  const send = () => {
    const rows = Array.from(list.children);
    const done = rows.filter((row) => row.dataset.file);
    if (isSent || !done.length || rows.some((row) => ["waiting", "running", "paused"].includes(row.dataset.state))) return;
    isSent = true;
    for (const row of done) {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: "fileId", value: row.dataset.file });
      form.append(field);
    }
    setTimeout(() => form.requestSubmit(form.querySelector("[data-add]")), 100);
  };
  new MutationObserver(send).observe(list, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-file", "data-state"] });
}

// A file chooser that fills a text area with the content of the chosen file, so that it can be looked at before it is sent.
"use strict";
for (const input of document.querySelectorAll("input[type=file][data-into]")) {
  input.closest(".needs-script").classList.remove("needs-script");
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (file) document.getElementById(input.dataset.into).value = await file.text();
  });
}

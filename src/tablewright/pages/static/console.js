// What a script adds: copy buttons, menus that close on a click elsewhere. Every page can be read without it.
(function () {
  "use strict";

  function addCopyButtons(root) {
    if (!navigator.clipboard) return;
    root.querySelectorAll("pre[data-copy]").forEach(function (pre) {
      var figure = pre.parentElement;
      if (figure.querySelector(".copy")) return;
      var button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(pre.textContent).then(function () {
          button.textContent = "Copied";
          window.setTimeout(function () { button.textContent = "Copy"; }, 1500);
        });
      });
      figure.appendChild(button);
    });
    root.querySelectorAll("button[data-copy-text][hidden]").forEach(function (button) {
      button.hidden = false;
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(button.dataset.copyText).then(function () {
          button.classList.add("copied");
          window.setTimeout(function () { button.classList.remove("copied"); }, 1500);
        });
      });
    });
  }

  function closeMenus(except) {
    document.querySelectorAll("details[data-menu][open]").forEach(function (menu) {
      if (!menu.contains(except)) menu.open = false;
    });
  }

  document.addEventListener("click", function (event) { closeMenus(event.target); });
  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape") return;
    var open = document.querySelector("details[data-menu][open]");
    if (open) { open.open = false; open.querySelector("summary").focus(); }
  });
  document.addEventListener("htmx:afterSettle", function (event) { addCopyButtons(event.target); });
  addCopyButtons(document);
})();

// Copies a chosen file into the text field of the import. Without JavaScript the text is pasted by hand.
(function () {
  "use strict";
  var file = document.getElementById("sheet-file"), field = document.getElementById("f-sheet");
  if (!file || !field) return;
  file.parentElement.hidden = false;
  file.addEventListener("change", function () {
    if (file.files.length) file.files[0].text().then(function (text) { field.value = text; });
  });
})();

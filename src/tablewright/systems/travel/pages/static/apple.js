// Sends Apple's answer, which is in the fragment of the URL, to the server, and removes it from the address bar.
(function (self) {
  "use strict";

  var told = new URLSearchParams(self.location.hash.slice(1)), form = document.getElementById("apple-back");
  self.history.replaceState({}, "", self.location.pathname);
  if (!told.get("id_token")) { document.getElementById("apple-none").hidden = false; return; }
  form.elements.id_token.value = told.get("id_token");
  form.elements.state.value = told.get("state") || "";
  form.submit();
})(self);

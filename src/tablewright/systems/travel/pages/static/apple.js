// Brings what Apple says, which stands behind the #, to the server; and takes it out of the address.
(function (self) {
  "use strict";

  var told = new URLSearchParams(self.location.hash.slice(1)), form = document.getElementById("apple-back");
  self.history.replaceState({}, "", self.location.pathname);
  if (!told.get("id_token")) { document.getElementById("apple-none").hidden = false; return; }
  form.elements.id_token.value = told.get("id_token");
  form.elements.state.value = told.get("state") || "";
  form.submit();
})(self);

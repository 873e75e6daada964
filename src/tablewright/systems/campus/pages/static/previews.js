// Draws the pages of PDF documents with pdf.js, each when it comes into view.
// Each page is <figure class="preview-page" data-page="n">, as images have it; "preview:page" is sent when it is drawn.

function draw(page, figure) {
  const width = Math.min(figure.parentElement.clientWidth - 24, 1100);
  const natural = page.getViewport({ scale: 1 });
  const scale = (width / natural.width) * Math.min(window.devicePixelRatio || 1, 2);
  const viewport = page.getViewport({ scale });
  const canvas = document.createElement("canvas");
  canvas.width = Math.floor(viewport.width);
  canvas.height = Math.floor(viewport.height);
  canvas.style.width = `${width}px`;
  figure.prepend(canvas);
  return page.render({ canvasContext: canvas.getContext("2d"), viewport }).promise;
}

async function show(box) {
  const note = box.querySelector(".preview-note");
  try {
    const pdf = await import(box.dataset.library);
    pdf.GlobalWorkerOptions.workerSrc = box.dataset.worker;
    const opened = pdf.getDocument({ url: box.dataset.url, isEvalSupported: false, enableXfa: false, disableAutoFetch: true, disableRange: true, disableStream: true });
    const file = await opened.promise;
    const first = (await file.getPage(1)).getViewport({ scale: 1 });
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((each) => each.isIntersecting)) {
        seen.unobserve(entry.target);
        file.getPage(Number(entry.target.dataset.page)).then((page) => draw(page, entry.target)).then(() => {
          entry.target.style.minHeight = "";
          entry.target.dispatchEvent(new CustomEvent("preview:page", { bubbles: true }));
        });
      }
    }, { root: box, rootMargin: "600px" });
    const width = Math.min(box.clientWidth - 24, 1100);
    for (let number = 1; number <= file.numPages; number += 1) {
      const figure = document.createElement("figure");
      figure.className = "preview-page";
      figure.dataset.page = String(number);
      figure.setAttribute("aria-label", `Page ${number} of ${file.numPages}`);
      figure.style.minHeight = `${(width / first.width) * first.height}px`;
      figure.style.minWidth = `${width}px`;
      box.append(figure);
      seen.observe(figure);
    }
    note.remove();
  } catch (error) {
    note.textContent = error.name === "PasswordException" ? "This document has a password. Download it to open it." : "This document cannot be shown. Download it to open it.";
  }
}

document.querySelectorAll('.preview[data-preview="pdf"]').forEach(show);

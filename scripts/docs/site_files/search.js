// Search over `window.pages`: rows of [address, page, section, text].
(() => {
  const field = document.getElementById("search");
  const list = document.getElementById("hits");
  const { up } = document.body.dataset;
  const MOST = 12;
  const SHOWN_CHARS = 110;

  if (matchMedia("(max-width: 50rem)").matches) document.querySelector(".menu").open = false;

  // How many of the words a section has, and how much they count there.
  function worth([, page, section, text], words) {
    let sum = 0;
    let has = 0;
    for (const word of words) {
      const inTitle = section.toLowerCase().includes(word) ? 8 : 0;
      const inPage = page.toLowerCase().includes(word) ? 3 : 0;
      const inText = text.toLowerCase().includes(word) ? 1 : 0;
      if (inTitle + inPage + inText) has += 1;
      sum += inTitle + inPage + inText;
    }
    return [has, sum];
  }

  function beginning(text) {
    if (text.length <= SHOWN_CHARS) return text;
    const cut = text.slice(0, SHOWN_CHARS);
    return `${cut.slice(0, cut.lastIndexOf(" "))} …`;
  }

  function row([address, page, section, text]) {
    const link = document.createElement("a");
    link.href = up + address;
    const title = document.createElement("b");
    title.textContent = section === page ? page : `${page} › ${section}`;
    const more = document.createElement("span");
    more.textContent = beginning(text);
    link.append(title, more);
    const item = document.createElement("li");
    item.append(link);
    return item;
  }

  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length
      ? window.pages
          .map((one) => [worth(one, words), one])
          .filter(([[has]]) => has > 0)
          .sort(([a], [b]) => b[0] - a[0] || b[1] - a[1])
          .slice(0, MOST)
      : [];
    list.replaceChildren(...found.map(([, one]) => row(one)));
    if (words.length && !found.length) list.textContent = "Nothing found";
    list.hidden = !words.length;
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") list.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape") {
      list.hidden = true;
      field.blur();
    }
  });
})();

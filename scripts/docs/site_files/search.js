// Search over `window.pages`: rows of [address, page, section, text].
(() => {
  const field = document.getElementById("search");
  const list = document.getElementById("hits");
  const { up } = document.body.dataset;
  const MOST = 12;

  if (matchMedia("(max-width: 50rem)").matches) document.querySelector(".menu").open = false;

  function worth([, page, section, text], words) {
    let sum = 0;
    for (const word of words) {
      const inTitle = section.toLowerCase().includes(word) ? 8 : 0;
      const inPage = page.toLowerCase().includes(word) ? 3 : 0;
      const inText = text.toLowerCase().includes(word) ? 1 : 0;
      if (!(inTitle + inPage + inText)) return 0;
      sum += inTitle + inPage + inText;
    }
    return sum;
  }

  function row([address, page, section, text]) {
    const link = document.createElement("a");
    link.href = up + address;
    const title = document.createElement("b");
    title.textContent = section === page ? page : `${page} › ${section}`;
    const more = document.createElement("span");
    more.textContent = text.slice(0, 110);
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
          .filter(([value]) => value > 0)
          .sort((a, b) => b[0] - a[0])
          .slice(0, MOST)
      : [];
    list.replaceChildren(...found.map(([, one]) => row(one)));
    if (words.length && !found.length) list.textContent = "Nothing found";
    list.hidden = !words.length;
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

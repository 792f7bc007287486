// The theme: light, dark, or that of the system. Runs before the first paint.
(() => {
  const KEY = "notewell.theme";
  const CHOICES = ["system", "light", "dark"];

  function kept() {
    try {
      const choice = localStorage.getItem(KEY);
      return CHOICES.includes(choice) ? choice : "system";
    } catch {
      return "system"; // Storage can be disabled in the browser.
    }
  }

  function apply(choice) {
    document.documentElement.dataset.theme = choice;
  }

  apply(kept());
  window.notewellTheme = {
    current: kept,
    next() {
      return this.set(CHOICES[(CHOICES.indexOf(document.documentElement.dataset.theme) + 1) % 3]);
    },
    set(choice) {
      apply(choice);
      try {
        localStorage.setItem(KEY, choice);
      } catch {
        // Then the choice lasts until the page is closed.
      }
      document.dispatchEvent(new Event("notewell:theme"));
      return choice;
    },
  };
})();

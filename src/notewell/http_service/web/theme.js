// Light, dark, or as the system says. Loaded before anything is painted.
(() => {
  const KEY = "notewell.theme";
  const CHOICES = ["system", "light", "dark"];

  function kept() {
    try {
      const choice = localStorage.getItem(KEY);
      return CHOICES.includes(choice) ? choice : "system";
    } catch {
      return "system"; // Storage can be closed to pages; the system's choice is a fine one.
    }
  }

  function apply(choice) {
    document.documentElement.dataset.theme = choice;
  }

  apply(kept());
  window.notewellTheme = {
    current: kept,
    next() {
      const choice = CHOICES[(CHOICES.indexOf(document.documentElement.dataset.theme) + 1) % 3];
      apply(choice);
      try {
        localStorage.setItem(KEY, choice);
      } catch {
        // It holds until the page is closed.
      }
      document.dispatchEvent(new Event("notewell:theme"));
      return choice;
    },
  };
})();

// Formats numbers, dates and counts. The page is in English; Intl formats.

const TONGUE = navigator.languages.find((one) => /^en\b/i.test(one)) ?? "en-GB";
const WHOLE = new Intl.NumberFormat(TONGUE, { maximumFractionDigits: 0 });
const SCORE = new Intl.NumberFormat(TONGUE, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const PERCENT = new Intl.NumberFormat(TONGUE, { style: "percent", maximumFractionDigits: 0 });
const MONEY = new Intl.NumberFormat(TONGUE, {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 4,
});
const DAY = new Intl.DateTimeFormat(TONGUE, { dateStyle: "medium", timeZone: "UTC" });
const LONG_DAY = new Intl.DateTimeFormat(TONGUE, { dateStyle: "full", timeZone: "UTC" });
const MONTH = new Intl.DateTimeFormat(TONGUE, { month: "long", year: "numeric", timeZone: "UTC" });
const SHORT_MONTH_YEAR = new Intl.DateTimeFormat(TONGUE, {
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
const SHORT_MONTH = new Intl.DateTimeFormat(TONGUE, { month: "short", timeZone: "UTC" });
const WEEKDAY = new Intl.DateTimeFormat(TONGUE, { weekday: "short", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat(TONGUE, { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat(TONGUE, { timeStyle: "short" });
const AGO = new Intl.RelativeTimeFormat(TONGUE, { numeric: "auto", style: "long" });
const COUNT = new Intl.PluralRules(TONGUE);

export const whole = (n) => WHOLE.format(n);
export const score = (n) => SCORE.format(n);
export const percent = (n) => PERCENT.format(n);
export const money = (n) => MONEY.format(n);

/** `1 note`, `2,000 notes`. */
export function counted(n, word, words = `${word}s`) {
  return `${whole(n)} ${COUNT.select(n) === "one" ? word : words}`;
}

/** 4 kB, 51 MB: powers of 1000. */
export function bytes(n) {
  if (n < 1000) return counted(n, "byte");
  const units = ["kilobyte", "megabyte", "gigabyte", "terabyte"];
  const step = Math.min(3, Math.floor(Math.log10(n) / 3) - 1);
  const value = n / 1000 ** (step + 1);
  const form = { style: "unit", unit: units[step], maximumFractionDigits: value < 10 ? 1 : 0 };
  return new Intl.NumberFormat(TONGUE, form).format(value);
}

/** A duration: 12 ms, 3.4 s. */
export function took(ms) {
  const [value, unit] = ms < 1000 ? [ms, "millisecond"] : [ms / 1000, "second"];
  const form = { style: "unit", unit, maximumFractionDigits: value < 10 ? 1 : 0 };
  return new Intl.NumberFormat(TONGUE, form).format(value);
}

const utc = (day) => new Date(`${day}T00:00:00Z`);
export const day = (iso) => DAY.format(utc(iso));
export const longDay = (iso) => LONG_DAY.format(utc(iso));
export const monthAndYear = (iso) => SHORT_MONTH_YEAR.format(utc(`${iso.slice(0, 7)}-01`));
export const month = (iso) => MONTH.format(utc(`${iso.slice(0, 7)}-01`));
export const shortMonth = (index) => SHORT_MONTH.format(new Date(Date.UTC(2024, index, 1)));
/** 0 is Monday. */
export const weekday = (index) => WEEKDAY.format(new Date(Date.UTC(2024, 0, 1 + index)));
export const moment = (iso) => MOMENT.format(new Date(iso));
export const clock = (iso) => CLOCK.format(new Date(iso));
/** The local day of a time. */
export const localDay = (iso) => {
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 10);
};

/** `3 days ago`, `last year`; days are counted, not guessed from hours. */
export function age(days) {
  const near = Math.abs(days);
  if (near < 14) return AGO.format(-days, "day");
  if (near < 60) return AGO.format(-Math.round(days / 7), "week");
  if (near < 730) return AGO.format(-Math.round(days / 30.44), "month");
  return AGO.format(-Math.round((days / 365.25) * 2) / 2, "year");
}

/** `5 minutes ago`, for recent events. */
export function since(seconds) {
  if (seconds < 5) return "just now";
  if (seconds < 90) return AGO.format(-Math.round(seconds), "second");
  if (seconds < 5400) return AGO.format(-Math.round(seconds / 60), "minute");
  if (seconds < 129600) return AGO.format(-Math.round(seconds / 3600), "hour");
  return age(Math.round(seconds / 86400));
}

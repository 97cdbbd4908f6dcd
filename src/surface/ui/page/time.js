// Times and lengths of time, for people.

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** The time of day of a moment. */
export const clock = (ms) => (ms ? CLOCK.format(new Date(ms)) : "");

/** A moment with its day. */
export const moment = (ms) => (ms ? DAY.format(new Date(ms)) : "time unknown");

const UNITS = [
  ["d", 86400000],
  ["h", 3600000],
  ["min", 60000],
  ["s", 1000],
];

/** A length of time, in at most two units. */
export function lasting(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10000) return `${(ms / 1000).toFixed(1)} s`;
  const first = UNITS.findIndex(([, unit]) => ms >= unit);
  const [name, unit] = UNITS[first];
  const whole = Math.floor(ms / unit);
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms % unit) / next[1]) : 0;
  return rest > 0 ? `${whole} ${name} ${rest} ${next[0]}` : `${whole} ${name}`;
}

/** A number with separators. */
export const count = (number) => number.toLocaleString();

/** A number with the noun of what it counts. */
export const counted = (number, one, several = `${one}s`) => `${count(number)} ${number === 1 ? one : several}`;

// Numbers, times and counts as people read them.

/** 4.25 -> "4.3 s", 75 -> "1:15 min", 3700 -> "1:01:40 h". */
export function duration(seconds) {
  if (seconds == null) return "";
  if (seconds < 60)
    return `${plainNumber(seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds))} s`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours) return `${hours}:${two(minutes)}:${two(rest)} h`;
  return rest ? `${minutes}:${two(rest)} min` : `${minutes} min`;
}

/** A time that is over: what took less than a second is told in milliseconds, as in the terminal. */
export function took(seconds) {
  return seconds < 1 ? `${Math.max(1, Math.round(1000 * seconds))} ms` : duration(seconds);
}

export function amount(value, unit) {
  if (unit === "s") return duration(value);
  return unit ? `${plainNumber(value)} ${unit}` : plainNumber(value);
}

/** 12345.678 -> "12,345.68"; the same in every country, as in the terminal and in the files. */
export function plainNumber(value) {
  return Number(value).toLocaleString("en", { maximumFractionDigits: 2 });
}

export function counted(number, noun) {
  const many = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${plainNumber(number)} ${number === 1 ? noun : many}`;
}

/** The time of day of an ISO time, in the reader's own zone; any other text as it is. */
export function timeOfDay(time) {
  const moment = new Date(time ?? NaN);
  if (Number.isNaN(moment.getTime())) return time ?? "";
  return [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(":");
}

function two(number) {
  return String(number).padStart(2, "0");
}

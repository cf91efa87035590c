/** Times in words, each with a unit. Pure; `t` is the host's translator. */
export type Translate = (text: string, ...args: readonly (string | number)[]) => string;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "0.4 s", "3 s", "1 min 12 s", "2 h 5 min". Negative durations (clock skew) count as 0. */
export function duration(t: Translate, ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < SECOND) {
    return t('%1 s', Math.round(whole / 100) / 10);
  }
  return whole < MINUTE ? t('%1 s', Math.round(whole / SECOND)) : longDuration(t, whole);
}

/** The age of something that goes on, in whole seconds. */
export function age(t: Translate, since: string, now: number): string {
  const ms = Math.max(0, now - Date.parse(since));
  return ms < MINUTE ? t('%1 s', Math.floor(ms / SECOND)) : longDuration(t, ms);
}

function longDuration(t: Translate, ms: number): string {
  if (ms < HOUR) {
    const seconds = Math.floor((ms % MINUTE) / SECOND);
    const minutes = Math.floor(ms / MINUTE);
    return seconds ? t('%1 min %2 s', minutes, seconds) : t('%1 min', minutes);
  }
  const minutes = Math.floor((ms % HOUR) / MINUTE);
  const hours = Math.floor(ms / HOUR);
  return minutes ? t('%1 h %2 min', hours, minutes) : t('%1 h', hours);
}

/** "just now", "5 min ago", "3 h ago", "2 days ago", then the date. */
export function ago(t: Translate, iso: string, now: number): string {
  const ms = Math.max(0, now - Date.parse(iso));
  if (ms < MINUTE) {
    return t('just now');
  }
  if (ms < HOUR) {
    return t('%1 min ago', Math.floor(ms / MINUTE));
  }
  if (ms < DAY) {
    return t('%1 h ago', Math.floor(ms / HOUR));
  }
  const days = Math.floor(ms / DAY);
  if (days < 14) {
    return days === 1 ? t('yesterday') : t('%1 days ago', days);
  }
  return new Date(iso).toLocaleDateString();
}

/** The exact time, for a tooltip. */
export function exact(iso: string): string {
  return new Date(iso).toLocaleString();
}

/** Milliseconds between two ISO times; 0 when one is missing. */
export function between(from: string | null, to: string | null): number {
  return from && to ? Math.max(0, Date.parse(to) - Date.parse(from)) : 0;
}

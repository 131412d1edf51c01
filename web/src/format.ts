// Numbers for people: the same digits as the terminal's tables (src/base/number.h).

import type { Interval, Text } from "./result";
import { type Lang, language, same, say, text } from "./i18n";

const DIGITS = 3;

/** No line break between a number and its unit. */
const SPACE = "\u00a0";

function withSeparators(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * Three significant digits without an exponent, whole numbers with separators from 1000 up:
 * "0.00123", "1.23", "12.3", "123", "12,345". Below 1e-6 it is "0".
 */
export function number(value: number): string {
  const size = Math.abs(value);
  if (size < 1e-6) return "0";
  if (size >= 999.5) return withSeparators(value);
  const decimals = Math.min(Math.max(DIGITS - 1 - Math.floor(Math.log10(size)), 0), 8);
  const written = value.toFixed(decimals);
  // 9.996 has one digit before the point until it is rounded.
  const roundedUp = decimals > 0 && Math.abs(Number(written)) >= 10 ** (DIGITS - decimals);
  return roundedUp ? value.toFixed(decimals - 1) : written;
}

/** A count: no decimals. */
export function whole(value: number): string {
  return withSeparators(Math.round(value));
}

/** For the labels of axes and inputs: "400", "0.6", not "0.600". */
export function plain(value: number): string {
  const written = number(value);
  return written.includes(".") ? written.replace(/\.?0+$/, "") : written;
}

export function quantity(value: number, unit: string): string {
  return unit === "" ? number(value) : `${number(value)}${SPACE}${unit}`;
}

/** "+12.3 %"; "±0" where there is no difference. */
export function difference(percent: number): string {
  if (Math.abs(percent) < 0.05) return `±0${SPACE}%`;
  const sign = percent > 0 ? "+" : "\u2212";
  return `${sign}${number(Math.abs(percent))}${SPACE}%`;
}

/** "8.10 – 9.20", as ends of a band. */
export function band(interval: Pick<Interval, "lo" | "hi">): string {
  return `${number(interval.lo)}${SPACE}– ${number(interval.hi)}`;
}

/** Lengths of runs of one report share a unit, the one that suits the shortest. */
export interface RunUnit {
  name: Text;
  days: number;
}

export function runUnit(days: number[]): RunUnit {
  const second = 1 / 86400;
  const least = Math.min(...days);
  if (least < 120 * second) return { name: text("s", "秒"), days: second };
  if (least < 7200 * second) return { name: text("min", "分钟"), days: 60 * second };
  if (least < 2) return { name: text("h", "小时"), days: 3600 * second };
  return { name: text("days", "天"), days: 1 };
}

/** A unit that keeps the labels of an axis short: "million CNY" or "万 CNY". */
export interface Scale {
  unit: string;
  divisor: number;
}

const MONEY_STEPS: Record<Lang, [number, string][]> = {
  en: [
    [1e9, "billion"],
    [1e6, "million"],
    [1e4, "thousand"],
  ],
  zh: [
    [1e8, "亿"],
    [1e4, "万"],
  ],
};

export function moneyScale(most: number, currency: string): Scale {
  const step = MONEY_STEPS[language()].find(([size]) => most >= size);
  if (!step) return { unit: currency, divisor: 1 };
  const [size, word] = step;
  return { unit: `${word} ${currency}`, divisor: word === "thousand" ? 1e3 : size };
}

const FACTORS: Record<string, Text> = {
  thousand: text("thousand", "千"),
  million: text("million", "百万"),
  billion: text("billion", "十亿"),
};

const UNITS: Record<string, Text> = {
  days: text("days", "天"),
  h: text("h", "小时"),
  hours: text("h", "小时"),
  min: text("min", "分钟"),
  s: text("s", "秒"),
  "requests/s": text("requests/s", "请求/秒"),
  "tokens/s": text("tokens/s", "token/秒"),
  GPUs: text("GPUs", "张"),
  years: text("years", "年"),
};

/** A unit of the JSON in the language shown; symbols stay as they are. */
export function unitName(unit: string): string {
  const [, factor, rest] = /^(thousand|million|billion) (.*)$/.exec(unit) ?? [];
  if (factor && rest) return `${say(FACTORS[factor] ?? same(factor))} ${rest}`;
  return say(UNITS[unit] ?? same(unit));
}

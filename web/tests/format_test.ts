import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import {
  band,
  difference,
  moneyScale,
  number,
  plain,
  quantity,
  runUnit,
  unitName,
  whole,
} from "../src/format";
import { colon, list, setLanguage } from "../src/i18n";

// The examples of src/base/number.h.
test("a number has three significant digits and separators, as on the terminal", () => {
  equal(number(0.00123), "0.00123");
  equal(number(1.234), "1.23");
  equal(number(12.34), "12.3");
  equal(number(123.4), "123");
  equal(number(12345), "12,345");
  equal(number(1e-7), "0");
});

test("a number that rounds up to a further digit has one decimal less", () => {
  equal(number(9.996), "10.0");
  equal(number(99.96), "100");
  equal(number(999.6), "1,000");
  equal(number(1234567), "1,234,567");
  equal(number(-1234.5), "-1,235");
});

test("a count has no decimals, an axis no zeros at the end", () => {
  equal(whole(5), "5");
  equal(whole(12345), "12,345");
  equal(plain(0.5), "0.5");
  equal(plain(400), "400");
  equal(plain(2.25), "2.25");
});

test("a unit stays on the line of its number", () => {
  equal(quantity(42.9, "min"), "42.9\u00a0min");
  equal(quantity(5, ""), "5.00");
});

test("a difference has a sign, and none where there is none", () => {
  equal(difference(4.5), "+4.50\u00a0%");
  equal(difference(-12), "\u221212.0\u00a0%");
  equal(difference(0.01), "±0\u00a0%");
});

test("a band has its two ends", () => {
  equal(band({ lo: 8.1, hi: 1200 }), "8.10\u00a0– 1,200");
});

// src/advice/words.cpp: below 120 s, 120 min and 48 h.
test("lengths of runs take the unit of the shortest", () => {
  const second = 1 / 86400;
  equal(runUnit([100 * second, 3]).name.en, "s");
  equal(runUnit([0.03, 0.09]).name.en, "min");
  equal(runUnit([1.5]).name.en, "h");
  equal(runUnit([61]).name.en, "days");
});

test("money on an axis is counted in the language's own steps", () => {
  setLanguage("en");
  deepEqual(moneyScale(9_531_200, "CNY"), { unit: "million CNY", divisor: 1e6 });
  deepEqual(moneyScale(40_000, "USD"), { unit: "thousand USD", divisor: 1e3 });
  deepEqual(moneyScale(311, "CNY"), { unit: "CNY", divisor: 1 });
  setLanguage("zh");
  deepEqual(moneyScale(9_531_200, "CNY"), { unit: "万 CNY", divisor: 1e4 });
  deepEqual(moneyScale(2.3e8, "CNY"), { unit: "亿 CNY", divisor: 1e8 });
});

test("units and lists are written in the language shown", () => {
  setLanguage("zh");
  equal(unitName("days"), "天");
  equal(unitName("million CNY"), "百万 CNY");
  equal(unitName("Gb/s"), "Gb/s");
  equal(list(["a", "b", "c"]), "a、b、c");
  equal(colon("成本", "3"), "成本：3");
  setLanguage("en");
  equal(list(["a", "b", "c"]), "a, b and c");
  equal(list(["a"]), "a");
  equal(list([]), "");
});

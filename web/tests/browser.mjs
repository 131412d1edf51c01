// Shows the report in Chromium as its readers do: on a telephone, on a desk and on paper, in both
// languages. Needs the built template (dist/report.html). `node tests/browser.mjs [--keep DIR]`
// keeps the pictures that were looked at.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const here = new URL(".", import.meta.url).pathname;
const { keep } = parseArgs({ options: { keep: { type: "string" } } }).values;
const WIDTHS = [390, 1280];
const LANGUAGES = ["en", "zh"];

/** What each sample must show: its sections and its charts. */
const COMMON = ["verdict", "comparison", "performance", "money", "changes", "topology", "bills", "reproduce"];
const SAMPLES = {
  "compare-training": {
    sections: [...COMMON, "assumptions"],
    charts: ["breakdown", "network-price", "cluster-price"],
  },
  "compare-serving": {
    sections: COMMON,
    charts: ["load", "network-price", "cluster-price"],
  },
  advise: {
    sections: [
      ...COMMON, "designs-chart", "robustness", "tuning", "assessment", "designs", "claims", "assumptions",
    ],
    charts: [
      "pareto", "breakdown", "scaling", "network-price", "cluster-price", "hour", "sensitivity",
      "break-even-rent-or-buy", "break-even-growth", "tuning", "assessment",
    ],
  },
};

/** Runs in the page: everything of it that is wrong, in words. */
function faults() {
  const found = [];
  const box = (element) => element.getBoundingClientRect();
  const named = (element) => `"${element.textContent.trim().slice(0, 40)}"`;
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth} px wide`);

  // A table scrolls by itself; nothing else may stick out.
  for (const element of document.querySelectorAll("main *, header *")) {
    if (element.closest(".scroll, .hidden")) continue;
    const { left, right, width } = box(element);
    if (width > 0 && (left < -1 || right > innerWidth + 1)) {
      found.push(`${element.tagName} ${named(element)} sticks out of the page`);
    }
  }

  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  for (const chart of document.querySelectorAll("figure.chart")) {
    const drawing = chart.querySelector("svg.picture, .plot svg");
    if (!drawing) {
      found.push(`${chart.id}: nothing drawn`);
      continue;
    }
    if (!drawing.querySelector("path, rect, circle, polyline")) found.push(`${chart.id}: empty`);
    const frame = box(drawing);
    const texts = [...drawing.querySelectorAll("text")].filter((text) => text.textContent.trim() !== "");
    for (const text of texts) {
      const inside = box(text);
      if (inside.left < frame.left - 1 || inside.right > frame.right + 1 ||
          inside.top < frame.top - 2 || inside.bottom > frame.bottom + 2) {
        found.push(`${chart.id}: ${named(text)} is cut`);
      }
    }
    const words = [
      ...texts,
      ...chart.querySelectorAll("h3, figcaption p, .legend li, summary"),
    ].map((element) => ({ element, at: box(element) }));
    words.forEach((one, i) => {
      for (const other of words.slice(i + 1)) {
        if (overlap(one.at, other.at)) {
          found.push(`${chart.id}: ${named(one.element)} over ${named(other.element)}`);
        }
      }
    });
    const label = chart.querySelector("[role=img]")?.getAttribute("aria-label") ?? "";
    if (label.length < 8) found.push(`${chart.id}: no words for those who do not see it`);
    if (chart.querySelector(".plot") && !chart.querySelector("details table")) {
      found.push(`${chart.id}: no table of its numbers`);
    }
  }

  // Headings go down one level at a time.
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) found.push(`heading ${named(heading)} skips a level`);
    level = next;
  }
  for (const header of document.querySelectorAll("th")) {
    if (!header.getAttribute("scope")) found.push(`table header ${named(header)} has no scope`);
  }
  return found;
}

/** Runs in the page: names of axes without a unit. The radar and the picture have no axes. */
function unitlessAxes() {
  return [...document.querySelectorAll("figure.chart:has(.plot)")]
    .filter((chart) => chart.id !== "chart-assessment")
    .filter((chart) => {
      const texts = [...chart.querySelectorAll(".plot text")].map((text) => text.textContent);
      const named = texts.filter((text) => /[(（][^()（）]+[)）]$/.test(text));
      const vertical = !["breakdown", "price", "hour", "sensitivity", "tuning"].some((word) =>
        chart.id.includes(word),
      );
      return named.length < (vertical ? 2 : 1);
    })
    .map((chart) => chart.id);
}

/** Runs in the page: words whose contrast with their ground is below 4.5 (WCAG 2, AA). */
function faintWords() {
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const light = (colour) => {
    const [r, g, b] = channels(colour).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll("#report *")]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .filter((element) => !element.closest("svg, .hidden"))
    .filter((element) => {
      const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
    })
    .map((element) => element.textContent.slice(0, 40));
}

async function fill(name, language) {
  const template = await readFile(join(here, "../dist/report.html"), "utf8");
  const page = JSON.parse(await readFile(join(here, "samples", `${name}.json`), "utf8"));
  const json = JSON.stringify({ ...page, lang: language }).replaceAll("<", "\\u003c");
  return template.replace("@@FABRICAST_PAGE@@", () => json);
}

const drawn = (tab) =>
  tab.waitForFunction(() =>
    [...document.querySelectorAll(".plot")].every((plot) => plot.querySelector("svg path")),
  );

const sectionsOf = (tab) =>
  tab.evaluate(() => [...document.querySelectorAll("main > section")].map(({ id }) => id));

async function look(tab, name, language, width, expected) {
  const where = `${name}, ${language}, ${width} px`;
  await drawn(tab);
  assert.deepEqual((await sectionsOf(tab)).sort(), [...expected.sections].sort(), where);
  const charts = await tab.evaluate(() =>
    [...document.querySelectorAll("figure.chart[id]")].map(({ id }) => id.replace("chart-", "")),
  );
  assert.deepEqual(charts.sort(), [...expected.charts].sort(), where);
  assert.deepEqual(await tab.evaluate(faults), [], where);
  assert.deepEqual(await tab.evaluate(unitlessAxes), [], where);
  assert.deepEqual(await tab.evaluate(faintWords), [], where);
  assert.equal(await tab.evaluate(() => document.documentElement.lang.slice(0, 2)), language, where);
  assert.doesNotMatch(await tab.locator("#report").innerText(), /NaN|Infinity|undefined/, where);
  if (keep) {
    await mkdir(keep, { recursive: true });
    await tab.screenshot({ path: join(keep, `${name}-${language}-${width}.png`), fullPage: true });
  }
}

/** Every fold opens by keyboard and stays within the page. */
async function unfold(tab, where) {
  for (const summary of await tab.locator("summary").all()) {
    await summary.focus();
    await tab.keyboard.press("Enter");
  }
  const closed = await tab.evaluate(() => document.querySelectorAll("details:not([open])").length);
  assert.equal(closed, 0, where);
  assert.deepEqual(await tab.evaluate(faults), [], `${where}, unfolded`);
}

async function switchLanguage(tab, language, where) {
  const other = language === "en" ? "zh" : "en";
  const before = await tab.locator("main").innerText();
  await tab.locator(`.languages button[lang=${other}]`).click();
  await drawn(tab);
  assert.equal(await tab.evaluate(() => document.documentElement.lang.slice(0, 2)), other, where);
  assert.notEqual(await tab.locator("main").innerText(), before, where);
  assert.deepEqual(await tab.evaluate(faults), [], `${where}, switched`);
  await tab.locator(`.languages button[lang=${language}]`).click();
  await drawn(tab);
  assert.equal(await tab.locator("main").innerText(), before, `${where}, switched back`);
}

/** The longest bar of the price of the cluster says what it is made of, with units. */
async function tooltip(tab, where) {
  const plot = tab.locator("#chart-cluster-price .plot");
  await plot.scrollIntoViewIfNeeded();
  const [x, y] = await plot.evaluate((element) => {
    const bars = [...element.querySelectorAll("path")]
      .filter((path) => /^#|^rgb/.test(path.getAttribute("fill") ?? ""))
      .map((path) => path.getBoundingClientRect())
      .sort((a, b) => b.width * b.height - a.width * a.height);
    return [bars[0].x + bars[0].width / 3, bars[0].y + bars[0].height / 2];
  });
  await tab.mouse.move(x, y);
  const tip = tab.locator(".tip").first();
  await tip.waitFor({ state: "visible" });
  assert.match(await tip.innerText(), /\d\u00a0\S/, `${where}: a tooltip without units`);
  await tab.mouse.move(1, 1);
  await tip.waitFor({ state: "hidden" });
}

async function paper(tab, name, language, expected, folder) {
  const where = `${name}, ${language}, paper`;
  await tab.emulateMedia({ media: "print" });
  await tab.setViewportSize({ width: 686, height: 970 });
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.deepEqual((await sectionsOf(tab)).sort(), [...expected.sections].sort(), where);
  assert.deepEqual(await tab.evaluate(faults), [], where);
  const hidden = await tab.evaluate(() =>
    [...document.querySelectorAll("main > section, details:not(.repeats)")]
      .filter((part) => part.getBoundingClientRect().height < 20)
      .map((part) => part.id || part.textContent.slice(0, 40)),
  );
  assert.deepEqual(hidden, [], where);
  if (keep) await tab.screenshot({ path: join(keep, `${name}-${language}-paper.png`), fullPage: true });
  await tab.evaluate(() => dispatchEvent(new Event("afterprint")));
  const pdf = await tab.pdf({ path: join(keep ?? folder, `${name}-${language}.pdf`), preferCSSPageSize: true });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-", where);
}

async function visit(browser, folder, name, language) {
  const file = join(folder, `${name}-${language}.html`);
  await writeFile(file, await fill(name, language));
  for (const width of WIDTHS) {
    const context = await browser.newContext({ viewport: { width, height: 900 } });
    const tab = await context.newPage();
    const complaints = [];
    tab.on("console", (message) => complaints.push(message.text()));
    tab.on("pageerror", (error) => complaints.push(error.message));
    tab.on("request", (request) => {
      if (request.url() !== `file://${file}` && !request.url().startsWith("data:")) {
        complaints.push(`asked for ${request.url()}`);
      }
    });
    await tab.goto(`file://${file}`);
    const where = `${name}, ${language}, ${width} px`;
    await look(tab, name, language, width, SAMPLES[name]);
    if (width === 1280) await tooltip(tab, where);
    await switchLanguage(tab, language, where);
    await unfold(tab, where);
    if (width === 1280) {
      await tab.reload();
      await drawn(tab);
      await paper(tab, name, language, SAMPLES[name], folder);
    }
    assert.deepEqual(complaints, [], where);
    await context.close();
    console.log(`ok: ${where}`);
  }
}

/** Advice that found nothing to build: the page says so and shows what there is. */
async function nothingFeasible(browser, folder) {
  const page = JSON.parse(await readFile(join(here, "samples", "advise.json"), "utf8"));
  const { result, words } = page;
  result.fabrics = {};
  result.designs = result.designs.filter((design) => !design.feasible);
  result.verdict.choice = "";
  result.verdict.evidence = { choice: "", headline: "", level: [], score: {} };
  result.verdict.reasons = [];
  words.reasons = [];
  words.flips = [];
  for (const key of ["scaling", "sensitivity", "tuning", "break_even", "claims"]) delete result[key];
  const file = join(folder, "nothing.html");
  const template = await readFile(join(here, "../dist/report.html"), "utf8");
  const json = JSON.stringify(page).replaceAll("<", "\\u003c");
  await writeFile(file, template.replace("@@FABRICAST_PAGE@@", () => json));
  const tab = await browser.newPage({ viewport: { width: 390, height: 900 } });
  const complaints = [];
  tab.on("console", (message) => complaints.push(message.text()));
  tab.on("pageerror", (error) => complaints.push(error.message));
  await tab.goto(`file://${file}`);
  assert.deepEqual(await sectionsOf(tab), ["verdict", "changes", "designs", "assumptions", "reproduce"]);
  assert.deepEqual(await tab.evaluate(faults), []);
  assert.doesNotMatch(await tab.locator("body").innerText(), /NaN|Infinity|undefined/);
  assert.deepEqual(complaints, []);
  await tab.close();
  console.log("ok: nothing feasible");
}

const folder = await mkdtemp(join(tmpdir(), "fabricast-report-"));
const browser = await chromium.launch({
  executablePath: process.env.FABRICAST_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  for (const name of Object.keys(SAMPLES)) {
    for (const language of LANGUAGES) await visit(browser, folder, name, language);
  }
  await nothingFeasible(browser, folder);
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}

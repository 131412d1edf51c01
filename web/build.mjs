// Builds the report's template: one HTML file that asks for nothing else, with a placeholder for the
// JSON of the page. `node build.mjs [--cpp FILE]`; with --cpp also as a C++ source file.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const options = parseArgs({ options: { cpp: { type: "string" } } }).values;

/** What `src/report/html.cpp` replaces. */
const PLACEHOLDER = "@@FABRICAST_PAGE@@";

async function bundle(entry) {
  const { outputFiles } = await build({
    entryPoints: [here + entry],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    format: "iife",
    target: ["chrome100", "firefox100", "safari15"],
    charset: "utf8",
    legalComments: "none",
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

/** `code` as the content of a script element, which ends at the first end tag whatever JavaScript says. */
const inScript = (code) => code.replaceAll(/<(?=\/script|!--)/gi, "\\x3c");

/** As raw string literals: compilers limit the length of one of them. */
function cppSource(html) {
  const length = 8192;
  const chunks = [];
  for (let start = 0; start < html.length; ) {
    let end = Math.min(start + length, html.length);
    const last = html.charCodeAt(end - 1);
    if (end < html.length && last >= 0xd800 && last < 0xdc00) end -= 1; // not between surrogates
    chunks.push(`R"html_(${html.slice(start, end)})html_"`);
    start = end;
  }
  return `// Made by web/build.mjs.
#include <string_view>

namespace fabricast::report {

std::string_view report_template();  // src/report/html.h

std::string_view report_template() {
  static constexpr char kTemplate[] =
${chunks.join("\n")};
  return {kTemplate, sizeof kTemplate - 1};
}

}  // namespace fabricast::report
`;
}

const [style, script, page] = await Promise.all([
  bundle("src/style.css"),
  bundle("src/main.ts"),
  readFile(here + "src/report.html", "utf8"),
]);
const html = page
  .replace("/* style */", () => style.trim())
  .replace("/* script */", () => inScript(script.trim()))
  .replace("<!-- page -->", PLACEHOLDER);
if (html.split(PLACEHOLDER).length !== 2) throw new Error("the template needs one placeholder");

await mkdir(here + "dist", { recursive: true });
await writeFile(here + "dist/report.html", html);
if (options.cpp) await writeFile(options.cpp, cppSource(html));

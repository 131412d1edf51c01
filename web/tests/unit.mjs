// Bundles the unit tests, so that they run on any Node.js from 18, and runs them.
import { mkdir, readdir } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const out = here + "../dist/tests";
const tests = (await readdir(here)).filter((name) => name.endsWith("_test.ts"));
await mkdir(out, { recursive: true });
await build({
  entryPoints: tests.map((name) => here + name),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "warning",
});
const files = tests.map((name) => `${out}/${name.replace(".ts", ".mjs")}`);
process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);

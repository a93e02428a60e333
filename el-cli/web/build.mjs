// Builds the front end into dist/, the same bytes from the same source. Called by
// scripts/build-web.

import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const common = { bundle: true, minify: true, legalComments: "none", charset: "utf8" };
const built = await build({
  ...common,
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx" },
  outdir: out,
  format: "esm",
  target: "es2023",
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
});
await build({
  ...common,
  absWorkingDir: here,
  entryPoints: { app: "src/app.css" },
  outdir: out,
  target: "es2023",
});
for (const file of ["index.html", "icon.svg"]) copyFileSync(join(here, file), join(out, file));

// The licences of what is in the bundle, which have to go with it.
const packages = new Set();
for (const file of Object.keys(built.metafile.inputs)) {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  if (name) packages.add(name);
}
const notices = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const text = readFileSync(join(folder, "LICENSE"), "utf8").trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
});
const head = "The front end of the board of el contains these packages.\n";
writeFileSync(join(out, "notices.txt"), [head, ...notices].join(`\n${"-".repeat(80)}\n\n`));

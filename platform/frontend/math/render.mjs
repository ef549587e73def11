// Reads [{key, tex, display}] from standard input, writes [{key, tex, display, mathml}] to standard output.
// Called by pixelbank.core.mathlock at build time; nothing of this reaches a browser.
import { readFileSync } from "node:fs";
import temml from "temml";

const out = [];
for (const { key, tex, display } of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const mathml = temml.renderToString(tex, { displayMode: display, annotate: true, throwOnError: true, trust: false });
    out.push({ key, tex, display, mathml });
  } catch (error) {
    // Temml underlines the place with combining characters and newlines; one plain line is easier to read.
    const why = String(error.message).normalize("NFKD").replace(/\p{M}/gu, "").replace(/\s+/g, " ").trim();
    process.stderr.write(`the formula ${JSON.stringify(tex)} cannot be read: ${why}\n`);
    process.exit(1);
  }
}
process.stdout.write(JSON.stringify(out));

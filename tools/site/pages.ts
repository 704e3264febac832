/** The files that the site is made of: pages in Markdown, and pictures. Reads the repository and changes nothing. */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { comparisonPage } from "./comparison.ts";
import { pageOf } from "./links.ts";
import { manualPage } from "./manual.ts";
import { PARTS } from "./navigation.ts";

const ROOT_PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASING.md", "LICENSE", "NOTICE"];

/** Path relative to the pages of the site -> text. Of the reference of the types only the first page: typedoc writes the others. */
export function sitePages(repository: string): ReadonlyMap<string, string> {
  const read = (path: string) => readFileSync(join(repository, path), "utf8");
  const below = (folder: string) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" })
      .map((name) => posix.join(folder, name))
      .sort();
  const documents = below("docs").filter((path) => /\.(?:md|svg|mjs)$/.test(path));
  const manual = below("man");
  const comparison = comparisonPage(read("README.md"));
  return new Map([
    ...[...ROOT_PAGES, ...documents].map((path) => [path.endsWith(".svg") ? path : pageOf(path), asMarkdown(path, read(path))] as const),
    ...manual.map((path) => [pageOf(path), manualPage(read(path), (file) => manual.includes(`man/${file}`))] as const),
    ["man/index.md", manualIndex(manual, read)] as const,
    ["docs/decisions/index.md", decisionsIndex(documents, read)] as const,
    ["comparison.md", comparison.markdown] as const,
    ...comparison.pictures.map(({ name, svg }) => [`pictures/${name}`, svg] as const),
    ["api/index.md", REFERENCE] as const,
    ["index.md", HOME] as const,
  ]);
}

/** Files that are not Markdown are shown as they are. */
function asMarkdown(path: string, text: string): string {
  if (/\.(?:md|svg)$/.test(path)) return text;
  const language = path.endsWith(".mjs") ? "js" : "text";
  return `# ${posix.basename(path)}\n\n\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`;
}

function manualIndex(manual: readonly string[], read: (path: string) => string): string {
  const rows = manual.map((path) => {
    const name = posix.basename(path);
    const summary = / \\- (.*)/.exec(read(path))?.[1] ?? "";
    return `| [${name.replace(/\.(\d)$/, "($1)")}](../${path}) | ${summary.replaceAll("\\-", "-").replaceAll("|", "\\|")} |`;
  });
  return ["# Manual", "", "| page | what it describes |", "| --- | --- |", ...rows, ""].join("\n");
}

function decisionsIndex(documents: readonly string[], read: (path: string) => string): string {
  const decisions = documents.filter((path) => path.startsWith("docs/decisions/"));
  const lines = decisions.map((path) => `- [${read(path).split("\n", 1)[0]!.replace(/^# /, "")}](${posix.basename(path)})`);
  return ["# Decisions", "", "Each page has the reason for one decision, and the alternatives.", "", ...lines, ""].join("\n");
}

const REFERENCE = `# Reference of the types

[Containers from TypeScript](../docs/library/README.md) describes how the parts work together.

| import from | exports |
| --- | --- |
| \`@runt-project/runt\` | [Executor, Runtime, Pool](executor/index.md) and their types |
| \`@runt-project/runt/engine\` | [TaskEngine](engine/index.md) and its types |
`;

const addressOf = (path: string) => `/${pageOf(path).replace(/\.md$/, ".html")}`;

/** Front matter is YAML, and JSON is a part of it. */
const HOME = `---\n${JSON.stringify({
  layout: "home",
  title: "runt",
  hero: {
    name: "runt",
    text: "An OCI container runtime that shows its plan",
    tagline:
      "A runtime for containerd, CRI-O, Podman and Docker; a daemon for pods and Compose files on one host; a library for TypeScript.",
    actions: [
      { theme: "brand", text: "First bundle", link: addressOf("docs/shell.md") },
      { theme: "alt", text: "Which part do I need?", link: addressOf("docs/questions.md") },
      { theme: "alt", text: "Comparison", link: "/comparison.html" },
    ],
  },
  features: PARTS.map(({ title, summary, groups }) => ({ title, details: summary, link: addressOf(groups[0]!.pages[0]![1]) })),
})}\n---\n\n![A plan, a container and a Compose project](docs/pictures/first-minute.svg)\n`;

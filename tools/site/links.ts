/** Which page of the site a path of the repository is, and what a link between two files of the repository becomes there. Pure. */
import { posix } from "node:path";

/** Files without Markdown that have a page of their own: the licence, the manual and the examples of the library. */
const WRAPPED = /^(?:LICENSE|NOTICE|man\/[\w.-]+\.\d|docs\/library\/[\w-]+\.mjs)$/;

/** The page of a file or folder, relative to the pages of the site: a page of the manual has `.md` added to its name, a folder has `index.md` in it. */
export function pageOf(path: string): string {
  if (path.endsWith(".md")) return path;
  return WRAPPED.test(path) ? `${path}.md` : posix.join(path, "index.md");
}

/**
 * The address that stands in the page of the site.
 * @param from The page that has the link: the same path in the repository and in the site.
 * @param address As it stands in the repository: relative to the page, or with a scheme.
 * @param pages Every page of the site.
 * @throws If the address is that of a file that the site does not have.
 */
export function siteAddress(from: string, address: string, pages: ReadonlySet<string>): string {
  if (/^(?:[a-z]+:|#)/i.test(address)) return address;
  const [path = "", anchor] = address.split("#");
  const file = posix.join(posix.dirname(from), decodeURI(path)).replace(/\/$/, "");
  const target = [file, pageOf(file), pageOf(file.replace(/\.html$/, ".md"))].find((page) => pages.has(page));
  if (target === undefined) throw new Error(`${from}: ${address} is not a page of the site`);
  const relative = posix.relative(posix.dirname(from), target);
  return `${relative.startsWith(".") ? relative : `./${relative}`}${anchor === undefined ? "" : `#${anchor}`}`;
}

/** The anchor of a heading, as GitHub and tools/lint-docs.ts name it. Renderers add a number to the second one of the same name. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

import { expect, test } from "vitest";
import { pageOf, siteAddress } from "./links.ts";
import { PARTS, partOf } from "./navigation.ts";
import { sitePages } from "./pages.ts";

const pages = sitePages(".");
const markdown = [...pages].filter(([path]) => path.endsWith(".md"));
const places: ReadonlySet<string> = new Set(pages.keys());
/** typedoc writes all but the first page of the reference. */
const isReference = (path: string) => path.startsWith("api/");
const named = PARTS.flatMap(({ groups }) => groups.flatMap((group) => group.pages.map(([, path]) => pageOf(path))));

test("every page is in the navigation once, or in the list of its folder", () => {
  expect(named.filter((page, index) => named.indexOf(page) !== index)).toEqual([]);
  const listed = /^(?:man|docs\/decisions)\//;
  const missing = markdown.map(([path]) => path).filter((path) => path !== "index.md" && !listed.test(path) && !named.includes(path));
  expect(missing).toEqual([]);
  expect(named.filter((page) => !places.has(page))).toEqual([]);
});

test("a page shows the part of the navigation that it is in", () => {
  for (const part of PARTS)
    for (const { pages: listed } of part.groups)
      for (const [title, path] of listed) expect([title, partOf(pageOf(path)).title]).toEqual([title, part.title]);
});

test("every link of a page leads to a page of the site", () => {
  const links = markdown.flatMap(([path, text]) =>
    [...text.replace(/```[\s\S]*?```/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, address = ""]) => [path, address] as const),
  );
  expect(links.length).toBeGreaterThan(400);
  const dead = links.filter(([path, address]) => {
    if (address.endsWith(".svg") || isReference(path)) return false;
    try {
      siteAddress(path, address, places);
      return false;
    } catch {
      return true;
    }
  });
  expect(dead).toEqual([]);
});

test("every page begins with its title", () => {
  const untitled = markdown.filter(([path, text]) => path !== "index.md" && !/^(?:<!--.*-->\n+)?# \S/.test(text)).map(([path]) => path);
  expect(untitled).toEqual([]);
});

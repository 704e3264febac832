/** The built site in headless Chromium: `make test-site`. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { siteFaults } from "../../tools/site/check.ts";
import { HTML, type Server, serve } from "./server.ts";

const CHROMIUM = "/usr/bin/chromium";
const FILES = readdirSync(HTML, { recursive: true, encoding: "utf8" }).sort();
const PAGES = FILES.filter((name) => name.endsWith(".html") && name !== "404.html");
/** The first page, and pages with wide tables, code, pictures and terms. */
const SHOWN = [
  "index.html",
  "README.html",
  "comparison.html",
  "docs/engine.html",
  "docs/engine/compose.html",
  "docs/findings.html",
  "docs/performance.html",
  "docs/security.html",
  "docs/library/adopt.mjs.html",
  "man/runt-create.8.html",
  "man/runtctl.1.html",
  "api/index.html",
];
const CODES = [...readFileSync("docs/findings.md", "utf8").matchAll(/^### (\S+)$/gm)].map(([, code = ""]) => code);

let browser: Browser;
let server: Server;
let context: BrowserContext;
let page: Page;
/** Requests that went elsewhere. */
let strays: string[] = [];

beforeAll(async () => {
  expect(existsSync(CHROMIUM), "tools/setup.sh site installs Chromium").toBe(true);
  server = await serve();
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
beforeEach(() => {
  strays = [];
});
afterEach(async () => {
  await context?.close();
  expect(strays).toEqual([]);
});

async function open(width: number, colorScheme: "light" | "dark" = "light"): Promise<void> {
  context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, reducedMotion: "reduce" });
  context.on("request", (request) => {
    if (!request.url().startsWith(`${server.address}/`) && !request.url().startsWith("data:")) strays.push(request.url());
  });
  page = await context.newPage();
}

const visit = (path: string) => page.goto(`${server.address}/${path}`, { waitUntil: "load" });

test("every link and anchor leads to something, and nothing is loaded from another host", () => {
  const files = new Map(FILES.map((name) => [name, /\.(?:html|css)$/.test(name) ? readFileSync(join(HTML, name), "utf8") : ""]));
  expect(siteFaults(files, "/")).toEqual([]);
  expect(PAGES.length).toBeGreaterThan(150);
});

test("no page scrolls sideways at 360 pixels", async () => {
  await open(360);
  const wide: string[] = [];
  for (const path of PAGES) {
    await visit(path);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 360) wide.push(`${path}: ${width}`);
  }
  expect(wide).toEqual([]);
});

describe.each(["light", "dark"] as const)("in %s", (scheme) => {
  test.each([360, 1280])("pages of %i pixels are readable and have names for their parts", async (width) => {
    await open(width, scheme);
    const faults: string[] = [];
    for (const path of SHOWN) {
      await visit(path);
      expect(await page.evaluate(() => document.documentElement.classList.contains("dark"))).toBe(scheme === "dark");
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: typeof axe }).axe.run(document, { runOnly: ["wcag2a", "wcag2aa"] }),
      );
      for (const { id, nodes } of violations) faults.push(...nodes.slice(0, 3).map((node) => `${path}: ${id}: ${node.html.slice(0, 200)}`));
    }
    expect(faults).toEqual([]);
  });
});

/** Returns the element that has the keyboard focus. */
const focused = () =>
  page.evaluate(() => {
    const { activeElement: at } = document;
    return (at?.getAttribute("aria-label") ?? at?.textContent ?? "").trim();
  });

describe("by keys only", () => {
  test("Tab comes to the skip link, the search, the navigation and the links of the sidebar, each with a visible mark", async () => {
    await open(1280);
    await visit("docs/questions.html");
    const seen: string[] = [];
    for (let presses = 0; presses < 30; presses++) {
      await page.keyboard.press("Tab");
      seen.push(await focused());
      const mark = await page.evaluate(() => {
        const style = getComputedStyle(document.activeElement!);
        return style.outlineStyle !== "none" || style.boxShadow !== "none" || document.activeElement!.className.includes("VPSkipLink");
      });
      expect(mark, `the mark of ${seen.at(-1)}`).toBe(true);
    }
    expect(seen[0]).toBe("Skip to content");
    for (const name of ["Search", "Operators", "Engine users", "TypeScript", "Reference", "runt from a shell"])
      expect(
        seen.some((text) => text.includes(name)),
        `${name} in ${seen.join(", ")}`,
      ).toBe(true);
  });

  test("the search opens, finds and follows by keys, and Escape closes it", async () => {
    await open(1280);
    await visit("index.html");
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox").waitFor();
    await page.keyboard.type("mount-destination-relative");
    await page.locator(".VPLocalSearchBox .result").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox").waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.getByRole("searchbox").waitFor();
    await page.keyboard.type("switching to runt and back");
    await page.locator(".VPLocalSearchBox .result").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/switching\.html/);
  });

  test("at 360 pixels the menu and the sidebar open by keys", async () => {
    await open(360);
    await visit("docs/questions.html");
    await page.getByRole("button", { name: "mobile navigation" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("#VPNavScreen").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Menu" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".VPSidebar.open").waitFor();
  });
});

test("every finding is the first result of a search for its code", async () => {
  await open(1280);
  await visit("docs/findings.html");
  await page.keyboard.press("Control+k");
  const box = page.getByRole("searchbox");
  await box.waitFor();
  expect(CODES.length).toBeGreaterThan(200);
  const missed: string[] = [];
  for (const code of CODES) {
    await box.fill(code);
    const first = page.locator(".VPLocalSearchBox .result").first();
    const isFound = await first
      .and(page.locator(`[href$="findings.html#${code}"]`))
      .waitFor({ timeout: 5000 })
      .then(
        () => true,
        () => false,
      );
    if (!isFound) missed.push(`${code}: ${await first.getAttribute("href").catch(() => "nothing")}`);
  }
  expect(missed).toEqual([]);
});

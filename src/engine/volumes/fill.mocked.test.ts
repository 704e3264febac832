/** Needs root, for owners. */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PATIENCE_MS } from "../../../test/support/patience.ts";
import { observed } from "../../../test/support/turns.ts";
import { fillVolume, makeScratch } from "./index.ts";

const counts = vi.hoisted(() => ({ looks: 0, links: 0, listings: 0 }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const counted = (name: "lstatSync" | "linkSync" | "readdirSync", count: keyof typeof counts) => {
    const call = fs[name] as (...args: unknown[]) => unknown;
    return (...args: unknown[]) => {
      counts[count]++;
      return call(...args);
    };
  };
  return {
    ...fs,
    ...{
      lstatSync: counted("lstatSync", "looks"),
      linkSync: counted("linkSync", "links"),
      readdirSync: counted("readdirSync", "listings"),
    },
  };
});

describe.skipIf(process.geteuid?.() !== 0)("an image with very many files (needs root)", () => {
  const COUNT = 2000;
  let top = "";
  const at = (name: string) => join(top, name);
  const fill = () =>
    fillVolume({ volume: at("volume"), beside: at("beside"), from: at("image"), first: 0, signal: AbortSignal.timeout(PATIENCE_MS) });
  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), "runt-fill-"));
    makeScratch(at("volume"));
    mkdirSync(at("image"), { mode: 0o750 });
    for (let index = 0; index < COUNT; index++) writeFileSync(at(`image/${index}`), "");
  });
  afterEach(() => rmSync(top, { recursive: true }));

  test("fills a volume while other work goes on, and looks at no whole directory at once", async () => {
    const { most } = await observed(fill, counts);
    expect(readdirSync(at("volume"))).toHaveLength(COUNT);
    expect(lstatSync(at("volume")).mode & 0o777).toBe(0o750);
    expect(most["looks"]).toBeLessThan(COUNT / 4);
    expect(most["links"]).toBeLessThan(COUNT / 4);
    expect(most["listings"]).toBe(0);
  });

  test("and does not look at all files of a volume that is used to see that it is not new", async () => {
    for (let index = 0; index < COUNT; index++) writeFileSync(at(`volume/${index}`), "mine");
    const { most } = await observed(fill, counts);
    expect(most["listings"]).toBe(0);
    expect(readdirSync(at("volume"))).toHaveLength(COUNT);
  });
});

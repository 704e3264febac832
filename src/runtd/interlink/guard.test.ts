import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readToken, refusalOf } from "./guard.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-guard-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const TOKEN = "a".repeat(32);
const guard = { token: TOKEN, hosts: ["127.0.0.1:4000", "Edge.example"] };

test("a request needs a name of this host and the token, whole and with its scheme", () => {
  const ask = (host: string | undefined, authorization?: string) =>
    refusalOf({ ...(host === undefined ? {} : { host }), ...(authorization === undefined ? {} : { authorization }) }, guard)?.status;
  expect(ask("127.0.0.1:4000", `Bearer ${TOKEN}`)).toBeUndefined();
  expect(ask("edge.EXAMPLE", `Bearer ${TOKEN}`)).toBeUndefined();
  for (const host of [undefined, "", "127.0.0.1", "edge.example:4000", "evil.example"]) expect(ask(host, `Bearer ${TOKEN}`)).toBe(421);
  for (const wrong of [
    undefined,
    "",
    TOKEN,
    "Bearer ",
    `Bearer ${TOKEN}a`,
    `Bearer ${TOKEN.slice(1)}`,
    `bearer ${TOKEN}`,
    `Basic ${TOKEN}`,
  ])
    expect(ask("edge.example", wrong)).toBe(401);
});

test("a token that others may read, or that could be found by trying, is none", () => {
  const file = join(directory, "token");
  writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 });
  expect(readToken(file)).toBe(TOKEN);
  chmodSync(file, 0o640);
  expect(() => readToken(file)).toThrow("chmod 0600");
  writeFileSync(join(directory, "short"), "short", { mode: 0o600 });
  expect(() => readToken(join(directory, "short"))).toThrow("less than 32 characters");
});

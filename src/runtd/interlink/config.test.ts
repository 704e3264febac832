import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { configurationOf, valuesOf } from "../config.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-interlink-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const token = join(directory, "token");
writeFileSync(token, "b".repeat(40), { mode: 0o600 });
const of = (...args: string[]) => configurationOf(valuesOf(args)).interlink;

test("nothing unless it is asked for; a socket; an address with a token, whose names are its own and those that are given", () => {
  expect(of()).toBeUndefined();
  expect(of("--interlink")).toEqual({ rules: { hostPaths: [], network: "bridge" }, listen: undefined });
  expect(
    of("--interlink", "--interlink-network", "none", "--interlink-host-path", "/srv", "--interlink-host-path", "/data")!.rules,
  ).toEqual({
    hostPaths: ["/srv", "/data"],
    network: "none",
  });
  expect(of("--interlink", "--interlink-listen", "[::1]:4000", "--interlink-token", token, "--interlink-host", "edge")!.listen).toEqual({
    address: "::1",
    port: 4000,
    token: "b".repeat(40),
    hosts: ["[::1]:4000", "edge"],
  });
});

test.each([
  [["--interlink-host-path", "/srv"], "needs --interlink"],
  [["--interlink", "--interlink-host-path", "srv"], "is no absolute path"],
  [["--interlink", "--interlink-listen", "127.0.0.1:4000"], "needs --interlink-token FILE"],
  [["--interlink", "--interlink-listen", "4000", "--interlink-token", token], "write ADDRESS:PORT"],
  [["--interlink", "--interlink-listen", "a:99999", "--interlink-token", token], "write ADDRESS:PORT"],
  [["--interlink", "--interlink-token", token], "are for --interlink-listen"],
  [["--interlink", "--interlink-network", "all"], "is none of bridge, none"],
])("%j is refused", (args, message) => {
  expect(() => of(...args)).toThrow(message);
});

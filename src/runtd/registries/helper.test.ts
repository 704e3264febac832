import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eraseInHelper, listInHelper, storeInHelper, userInHelper } from "./helper.ts";

const PATH = process.env["PATH"];
const LOGIN = { username: "u", password: "s3cret" };
let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-helper-"));
  process.env["PATH"] = `${directory}:${PATH}`;
});
afterEach(() => {
  process.env["PATH"] = PATH;
  rmSync(directory, { recursive: true });
});
const helper = (script: string) => {
  const path = join(directory, "docker-credential-test");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
};
const given = () => readFileSync(join(directory, "given"), "utf8");

test("the protocol: the action is the argument, and the rest goes through standard input and output", async () => {
  helper(`echo "$1" > ${directory}/given; cat >> ${directory}/given
case $1 in get) echo '{"ServerURL":"h","Username":"u","Secret":"s3cret"}';; list) echo '{"h":"u","i":"v"}';; esac`);
  await storeInHelper("test", "h", LOGIN);
  expect(given()).toBe('store\n{"ServerURL":"h","Username":"u","Secret":"s3cret"}');
  expect([await userInHelper("test", "h"), given()]).toEqual(["u", "get\nh"]);
  expect([await eraseInHelper("test", "h"), given()]).toEqual([true, "erase\nh"]);
  expect([await listInHelper("test"), given()]).toEqual([["h", "i"], "list\n"]);
});

test("a helper without a password for the registry is no error, and any other failure says what it is, without the password", async () => {
  helper("echo credentials not found in native keychain; exit 1");
  expect([await userInHelper("test", "h"), await eraseInHelper("test", "h")]).toEqual([undefined, false]);
  helper(`echo "the keychain is locked for s3cret"; exit 2`);
  await expect(storeInHelper("test", "h", LOGIN)).rejects.toThrow(
    "docker-credential-test store has failed (2): the keychain is locked for [hidden]",
  );
  await expect(userInHelper("test", "h")).rejects.toThrow(/^docker-credential-test get has failed \(2\)$/);
  helper("echo nothing");
  await expect(userInHelper("test", "h")).rejects.toThrow("has printed no JSON");
  await expect(storeInHelper("none", "h", LOGIN)).rejects.toThrow("docker-credential-none, which the file names, is not installed");
  await expect(storeInHelper("../test", "h", LOGIN)).rejects.toThrow('"../test" is no name of a credential helper');
});

test("a helper that hangs is killed with its children", async () => {
  helper("sleep 1000 & wait");
  await expect(eraseInHelper("test", "h", 200)).rejects.toThrow("docker-credential-test erase has not ended within 0.2 s");
});

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { tidyBridges, tidyLeases, tidyNamespaces } from "./tidy.ts";
import { Together } from "./together.ts";

let directory = "";
const at = (name: string) => join(directory, name);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-tidy-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(at("theirs"));
  writeFileSync(at("theirs/precious"), "unknown\n");
});
const options = () => ({
  ...{ namespaces: at("namespaces"), leases: at("leases"), prefix: "runtd-key", timeoutMs: 10_000 },
  unmounting: new Together(async () => {}),
});

test("a lease is a file of an unknown task: what else is there is not waited for, and links are removed themselves", () => {
  for (const name of ["leases/runtd-key-a", "leases/runtd-other-a"]) mkdirSync(at(name), { recursive: true });
  symlinkSync(at("theirs"), at("leases/runtd-key-link"));
  writeFileSync(at("leases/runtd-key-a/10.0.0.1"), "known\neth0");
  writeFileSync(at("leases/runtd-key-a/10.0.0.2"), "unknown\neth0");
  execFileSync("mkfifo", [at("leases/runtd-key-a/10.0.0.3")]);
  symlinkSync(at("theirs/precious"), at("leases/runtd-key-a/10.0.0.4"));
  writeFileSync(at("leases/runtd-other-a/10.0.0.5"), "unknown\neth0");
  tidyLeases(options(), (id) => id === "known");
  expect([readdirSync(at("leases/runtd-key-a")), readdirSync(at("leases/runtd-other-a"))]).toEqual([["10.0.0.1"], ["10.0.0.5"]]);
  expect(existsSync(at("theirs/precious"))).toBe(true);
});

test("a link for the file of a namespace is removed itself, and a directory with something in it is an error", async () => {
  mkdirSync(at("namespaces"));
  symlinkSync(at("theirs/precious"), at("namespaces/link"));
  await tidyNamespaces(options(), () => false);
  expect([readdirSync(at("namespaces")), existsSync(at("theirs/precious"))]).toEqual([[], true]);
  mkdirSync(at("namespaces/theirs/below"), { recursive: true });
  await expect(tidyNamespaces(options(), () => false)).rejects.toThrow("EISDIR");
});

test("with a bridge go the interfaces that a plugin has attached to it, and no others; what is no bridge stays", async () => {
  const attached = ["7: veth0123abcd@if2: <UP>", "8: vethtap@if2: <UP>", "9: tap0: <UP>"].join("\\n");
  const script = `case "$*" in *master*) printf '${attached}\\n' ;; *bridge*) echo "3: rt-one: <UP>" ;; *) echo "$@" >> ${at("log")} ;; esac`;
  writeFileSync(at("ip"), `#!/bin/sh\n${script}\n`);
  chmodSync(at("ip"), 0o755);
  const before = process.env["PATH"];
  process.env["PATH"] = `${directory}:${before}`;
  onTestFinished(() => {
    process.env["PATH"] = before;
  });
  await tidyBridges(["rt-one", "rt-theirs"], 10_000);
  expect(readFileSync(at("log"), "utf8").trim().split("\n")).toEqual(["link delete veth0123abcd", "link delete rt-one"]);
});

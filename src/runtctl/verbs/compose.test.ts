import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fileToApply } from "./compose.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-compose-"));
afterAll(() => rmSync(directory, { recursive: true }));

const sent = async (text: string, options: object = {}) => {
  const file = join(directory, "file.yaml");
  writeFileSync(file, text);
  return fileToApply({ file, profile: [], ...options }, undefined);
};

test("what is no Compose file goes to the daemon as it is", async () => {
  const task = "name: t # as it was written\ncontainers: [{ name: a, rootfs: /r, command: x }]\n";
  expect(await sent(task)).toMatchObject({ text: task, group: "default" });
  expect(await sent(task, { project: "shop" })).toMatchObject({ text: task, group: "shop" });
  const other = `${task}annotations: { about: "services \\\\ more" }\n`;
  expect(await sent(other)).toMatchObject({ text: other });
});

test("a Compose file is one however its key is written", async () => {
  const body = "{ web: { x-runt-rootfs: /r, entrypoint: [x], network_mode: none } }";
  for (const key of ["services", "'services'", '"\\x73ervices"', '"\\u0073ervic\\x65s"']) {
    const file = await sent(`name: shop\n${key}: ${body}\n`);
    expect([key, file?.group, JSON.parse(file!.text).name]).toEqual([key, "shop", "web"]);
  }
});

test("what the daemon finds wrong with a task is wrong at a place of the Compose file", async () => {
  const service = (name: string, ...more: string[]) => [`  ${name}:`, "    x-runt-rootfs: /r", "    entrypoint: [x]", ...more].join("\n");
  const fields = ["    runtime: vm", "    privileged: true", "    network_mode: host"];
  const file = (await sent(`services:\n${service("db")}\n${service("web", ...fields)}\n`))!;
  const at = (pointer: string) => {
    const { line, column, pointer: place } = file.origin!({ code: "shape", message: "", pointer, document: 1, line: 3, column: 99 });
    return `${line}:${column} ${place}`;
  };
  expect(at("/runtime")).toBe("8:5 /services/web/runtime");
  expect(at("/containers/0/privileged")).toBe("9:5 /services/web/privileged");
  expect(at("/namespaces/network")).toBe("10:5 /services/web/network_mode");
  expect(at("/pids")).toBe("5:3 /services/web");
});

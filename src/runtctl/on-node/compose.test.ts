import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { fileToApply } from "../verbs/compose.ts";
import { projectOf } from "./compose.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "runt-project-")));
afterAll(() => rmSync(top, { recursive: true }));
afterEach(() => {
  delete process.env["COMPOSE_PROJECT_NAME"];
});

const SERVICES =
  'services: { web: { x-runt-rootfs: /r, entrypoint: [x], network_mode: none, environment: { P: "$COMPOSE_PROJECT_NAME" } } }\n';
const sent = async (directory: string, text: string, options: object = {}, group?: string) => {
  mkdirSync(join(top, directory), { recursive: true });
  writeFileSync(join(top, directory, "compose.yaml"), text);
  const file = await fileToApply({ file: join(top, directory, "compose.yaml"), profile: [], ...options }, group);
  return [file?.group, JSON.parse(file!.text).containers[0].env.P, file?.from];
};

test.each([
  ["shop", "shop"],
  ["My Shop.v2", "myshopv2"],
  ["__a-b_", "a-b"],
  ["\u00c4pfel", "pfel"],
  ["...", ""],
  ["x".repeat(80), "x".repeat(63)],
])("the directory %j is the project %j", (name, project) => expect(projectOf(`/srv/${name}`)).toBe(project));

test("the name of a project: -p, the variable, the file's, --group, the directory's; it is a variable of the file", async () => {
  const named = `name: filed\n${SERVICES}`;
  const of = (directory: string) => join(top, directory);
  expect(await sent("My Shop", SERVICES)).toEqual(["myshop", "myshop", of("My Shop")]);
  expect(await sent("My Shop", SERVICES, {}, "given")).toEqual(["given", "given", of("My Shop")]);
  expect(await sent("My Shop", named, {}, "given")).toEqual(["filed", "filed", of("My Shop")]);
  writeFileSync(join(top, "My Shop/.env"), "COMPOSE_PROJECT_NAME=ofenv\n");
  expect(await sent("My Shop", named)).toEqual(["ofenv", "ofenv", of("My Shop")]);
  process.env["COMPOSE_PROJECT_NAME"] = "outer";
  expect(await sent("My Shop", named)).toEqual(["outer", "outer", of("My Shop")]);
  expect(await sent("My Shop", named, { project: "asked" })).toEqual(["asked", "asked", of("My Shop")]);
  delete process.env["COMPOSE_PROJECT_NAME"];
  await expect(sent("...", SERVICES)).rejects.toThrow("gives the project no name: use -p NAME");
});

test("several files, variables of --env-file, missing directories, and services that are all off", async () => {
  const at = (name: string) => join(top, "several", name);
  mkdirSync(at(""), { recursive: true });
  writeFileSync(
    at("a.yaml"),
    'services: { web: { x-runt-rootfs: /r, entrypoint: [x], volumes: ["./made:/m"], environment: { A: $A } } }\n',
  );
  writeFileSync(at("b.yaml"), "services: { web: { user: '5' } }\n");
  writeFileSync(at("own.env"), "A=own\n");
  const file = (await fileToApply({ file: [at("a.yaml"), at("b.yaml")], profile: [], envFile: [at("own.env")] }, undefined))!;
  expect(JSON.parse(file.text).containers[0]).toMatchObject({ user: "5", env: { A: "own" } });
  expect(existsSync(at("made"))).toBe(false);
  file.prepare!();
  expect(existsSync(at("made"))).toBe(true);
  writeFileSync(at("off.yaml"), "services: { web: { image: a.b/c, profiles: [x] } }\n");
  await expect(fileToApply({ file: at("off.yaml"), profile: [] }, undefined)).rejects.toThrow("no service is switched on");
  expect(await fileToApply({ file: at("off.yaml"), profile: [] }, undefined, { mayBeEmpty: true })).toMatchObject({ text: "" });
  writeFileSync(at("task.yaml"), "name: t\ncontainers: []\n");
  await expect(fileToApply({ file: [at("task.yaml"), at("task.yaml")], profile: [] }, undefined)).rejects.toThrow("is no Compose file");
});

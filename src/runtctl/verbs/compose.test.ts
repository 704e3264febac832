import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { projectOf } from "../../pod/index.ts";
import { fileToApply } from "./compose.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "runt-project-")));
afterAll(() => rmSync(top, { recursive: true }));
const home = process.cwd();
afterEach(() => {
  process.chdir(home);
  for (const name of Object.keys(process.env)) if (name.startsWith("COMPOSE_")) delete process.env[name];
});

const SERVICES =
  'services: { web: { x-runt-rootfs: /r, entrypoint: [x], network_mode: none, environment: { P: "$COMPOSE_PROJECT_NAME" } } }\n';
const project = (directory: string, text: string, options: object = {}, group?: string) => {
  mkdirSync(join(top, directory), { recursive: true });
  writeFileSync(join(top, directory, "compose.yaml"), text);
  const file = fileToApply({ file: join(top, directory, "compose.yaml"), profile: [], ...options }, group);
  return [file?.group, JSON.parse(file!.text).containers[0].env.P, file?.from];
};

test.each([
  ["shop", "shop"],
  ["My Shop.v2", "myshopv2"],
  ["__a-b_", "a-b"],
  ["\u00c4pfel", "pfel"],
  ["...", ""],
  ["x".repeat(80), "x".repeat(63)],
])("the directory %j is the project %j", (name, its) => expect(projectOf(`/srv/${name}`)).toBe(its));

test("a project behind a link: relative paths are those of its directory, and its name is that of the link", () => {
  mkdirSync(join(top, "disk"));
  writeFileSync(join(top, "disk/compose.yaml"), SERVICES.replace("network_mode", "volumes: ['./data:/data'], network_mode"));
  symlinkSync("disk", join(top, "linked"));
  const file = fileToApply({ file: join(top, "linked/compose.yaml"), profile: [] }, undefined)!;
  const [mount] = JSON.parse(file.text).containers[0].mounts;
  expect([file.group, mount.source, file.from]).toEqual(["linked", join(top, "disk/data"), join(top, "disk")]);
});

test("the name of a project: -p, the variable, the file's, --group, the directory's; it is a variable of the file", () => {
  const named = `name: filed\n${SERVICES}`;
  const of = (directory: string) => join(top, directory);
  expect(project("My Shop", SERVICES)).toEqual(["myshop", "myshop", of("My Shop")]);
  expect(project("My Shop", SERVICES, {}, "given")).toEqual(["given", "given", of("My Shop")]);
  expect(project("My Shop", named, {}, "given")).toEqual(["filed", "filed", of("My Shop")]);
  writeFileSync(join(top, "My Shop/.env"), "COMPOSE_PROJECT_NAME=ofenv\n");
  expect(project("My Shop", named)).toEqual(["ofenv", "ofenv", of("My Shop")]);
  process.env["COMPOSE_PROJECT_NAME"] = "outer";
  expect(project("My Shop", named)).toEqual(["outer", "outer", of("My Shop")]);
  expect(project("My Shop", named, { project: "asked" })).toEqual(["asked", "asked", of("My Shop")]);
  delete process.env["COMPOSE_PROJECT_NAME"];
  expect(() => project("...", SERVICES)).toThrow("gives the project no name: use -p NAME");
});

test("the name of the file is changed as by Compose, and a name that the user gives and Compose refuses is refused", () => {
  const named = (name: string) => project("named", `name: ${name}\n${SERVICES}`);
  expect(named("Foo.Bar")).toEqual(["foobar", "foobar", join(top, "named")]);
  expect(named("'..'")[0]).toBe("named");
  for (const wrong of ["FooBar", "_a", "a b"])
    expect(() => project("named", SERVICES, { project: wrong })).toThrow(`${wrong} is no name of a project`);
});

/** Source: compose-go, cli/options.go; compose, cmd/compose/compose.go. */
test("without a file: those of COMPOSE_FILE, else the usual ones here or above, with the variables of here first", () => {
  const at = (name: string) => join(top, "found", name);
  const service = (more: string) => `services: { web: { x-runt-rootfs: /r, entrypoint: [x], network_mode: none, ${more} } }\n`;
  mkdirSync(at("deep/er"), { recursive: true });
  const found = (options: object = {}) => {
    const file = fileToApply({ profile: [], ...options }, undefined)!;
    return [file.group, JSON.parse(file.text).containers[0].env, JSON.parse(file.text).containers[0].user];
  };
  process.chdir(at("deep/er"));
  expect(() => found()).toThrow(/^there is no compose\.yaml, .* in .*\/found\/deep\/er or above it: name a file with -f$/);
  writeFileSync(at("docker-compose.yml"), service("environment: { A: $A, B: $B }"));
  writeFileSync(at("compose.override.yaml"), "services: { web: { user: '5' } }\n");
  writeFileSync(at(".env"), "A=above\nB=above\n");
  writeFileSync(at("deep/er/.env"), "A=here\n");
  expect(found()).toEqual(["found", { A: "here", B: "above" }, "5"]);
  writeFileSync(at("deep/er/own.env"), "A=own\nB=own\n");
  process.env["COMPOSE_ENV_FILES"] = "own.env";
  expect(found()).toEqual(["found", { A: "own", B: "own" }, "5"]);
  delete process.env["COMPOSE_ENV_FILES"];
  process.env["COMPOSE_DISABLE_ENV_FILE"] = "1";
  expect(found()).toEqual(["found", { A: "", B: "" }, "5"]);
  delete process.env["COMPOSE_DISABLE_ENV_FILE"];
  writeFileSync(at("deep/b.yaml"), service("user: '7', profiles: [p]"));
  writeFileSync(at("deep/er/.env"), `COMPOSE_FILE=../b.yaml;${at("c.yaml")}\nCOMPOSE_PATH_SEPARATOR=;\nCOMPOSE_PROFILES=q,p\n`);
  writeFileSync(at("c.yaml"), "services: { web: { environment: { C: c } } }\n");
  expect(found()).toEqual(["deep", { C: "c" }, "7"]);
  process.env["COMPOSE_FILE"] = at("docker-compose.yml");
  expect(found()).toEqual(["found", { A: "above", B: "above" }, undefined]);
});

test("several files, variables of --env-file, missing directories, and services that are all off", () => {
  const at = (name: string) => join(top, "several", name);
  mkdirSync(at(""), { recursive: true });
  writeFileSync(
    at("a.yaml"),
    'services: { web: { x-runt-rootfs: /r, entrypoint: [x], volumes: ["./made:/m"], environment: { A: $A } } }\n',
  );
  writeFileSync(at("b.yaml"), "services: { web: { user: '5' } }\n");
  writeFileSync(at("own.env"), "A=own\n");
  const file = fileToApply({ file: [at("a.yaml"), at("b.yaml")], profile: [], envFile: [at("own.env")] }, undefined)!;
  expect(JSON.parse(file.text).containers[0]).toMatchObject({ user: "5", env: { A: "own" } });
  expect(existsSync(at("made"))).toBe(false);
  file.prepare!();
  expect(existsSync(at("made"))).toBe(true);
  writeFileSync(at("off.yaml"), "services: { web: { image: a.b/c, profiles: [x] } }\n");
  expect(() => fileToApply({ file: at("off.yaml"), profile: [] }, undefined)).toThrow("no service is switched on");
  expect(fileToApply({ file: at("off.yaml"), profile: [] }, undefined, { mayBeEmpty: true })).toMatchObject({ text: "" });
  writeFileSync(at("task.yaml"), "name: t\ncontainers: []\n");
  const task = "name: t\ncontainers: []\n";
  expect(fileToApply({ file: [at("task.yaml"), at("task.yaml")], profile: [] }, undefined)).toMatchObject({ text: `${task}---\n${task}` });
});

const sent = (text: string, options: object = {}) => {
  const file = join(top, "file.yaml");
  writeFileSync(file, text);
  return fileToApply({ file, profile: [], ...options }, undefined);
};

test("what is no Compose file goes to the daemon as it is", () => {
  const task = "name: t # as it was written\ncontainers: [{ name: a, rootfs: /r, command: x }]\n";
  expect(sent(task)).toMatchObject({ text: task, group: "default" });
  expect(sent(task, { project: "shop" })).toMatchObject({ text: task, group: "shop" });
  const other = `${task}annotations: { about: "services \\\\ more" }\n`;
  expect(sent(other)).toMatchObject({ text: other });
});

test("a Compose file is one however its key is written", () => {
  const body = "{ web: { x-runt-rootfs: /r, entrypoint: [x], network_mode: none } }";
  for (const key of ["services", "'services'", '"\\x73ervices"', '"\\u0073ervic\\x65s"']) {
    const file = sent(`name: shop\n${key}: ${body}\n`);
    expect([key, file?.group, JSON.parse(file!.text).name]).toEqual([key, "shop", "web"]);
  }
});

test("what the daemon finds wrong with a task is wrong at a place of the Compose file", () => {
  const service = (name: string, ...more: string[]) => [`  ${name}:`, "    x-runt-rootfs: /r", "    entrypoint: [x]", ...more].join("\n");
  const fields = ["    runtime: vm", "    privileged: true", "    network_mode: host"];
  const file = sent(`services:\n${service("db")}\n${service("web", ...fields)}\n`)!;
  const at = (pointer: string) => {
    const { line, column, pointer: place } = file.origin!({ code: "shape", message: "", pointer, document: 1, line: 3, column: 99 });
    return `${line}:${column} ${place}`;
  };
  expect(at("/runtime")).toBe("8:5 /services/web/runtime");
  expect(at("/containers/0/privileged")).toBe("9:5 /services/web/privileged");
  expect(at("/namespaces/network")).toBe("10:5 /services/web/network_mode");
  expect(at("/pids")).toBe("5:3 /services/web");
});

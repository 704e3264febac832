import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fileToApply } from "./compose.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "runt-quadlet-")));
afterAll(() => rmSync(top, { recursive: true }));

const put = (path: string, text: string) => {
  mkdirSync(join(top, path, ".."), { recursive: true });
  writeFileSync(join(top, path), text);
};
const read = (...paths: string[]) =>
  fileToApply({ file: paths.map((path) => join(top, path)), profile: [] }, undefined, { isQuiet: true })!;
const names = (text: string) => text.split("\n---\n").map((one) => JSON.parse(one).name);

test("a directory is a project of its name; one file is applied with those that it names, and drop-ins of both count", () => {
  const web = "[Unit]\nAfter=db.container\n[Container]\nRootfs=/r\nExec=x\n# other.container is not meant\n";
  put("My Shop/web.container", web);
  put("My Shop/db.container", "[Container]\nRootfs=/r\nExec=x\nVolume=data.volume:/d\n");
  put("My Shop/data.volume", "[Volume]\n");
  put("My Shop/other.container", "[Container]\nRootfs=/r\nExec=x\n");
  put("My Shop/container.d/1.conf", "[Container]\nEnvironment=A=1\n");
  put("My Shop/README", "");
  const all = read("My Shop");
  expect(all).toMatchObject({ group: "myshop", from: join(top, "My Shop"), isProject: true });
  expect(names(all.text)).toEqual(["db", "other", "web"]);
  expect(JSON.parse(all.text.split("\n---\n")[0]!).containers[0].env).toEqual({ A: "1" });
  expect(names(read("My Shop/web.container").text)).toEqual(["db", "web"]);
  expect(names(read("My Shop/db.container", "My Shop/other.container").text)).toEqual(["db", "other"]);
});

test("the objects of a file .kube are those of its files, each with its place", () => {
  put("kube/a.kube", "[Kube]\nYaml=pod.yaml\nConfigMap=map.yaml\n");
  put("kube/pod.yaml", "kind: Pod\n");
  put("kube/map.yaml", "kind: ConfigMap\n");
  const { text, origin } = read("kube");
  expect(text).toBe("kind: Pod\n---\nkind: ConfigMap\n");
  const finding = { code: "shape", message: "", pointer: "", document: 1, line: 3, column: 1 } as const;
  expect(origin!(finding)).toMatchObject({ file: join(top, "kube/map.yaml"), line: 1 });
});

test("what is no file of Quadlet, is elsewhere, too large or no file is refused", () => {
  put("empty/README", "");
  put("a/x.container", "[Container]\nRootfs=/r\nExec=x\n");
  put("b/y.container", "[Container]\nRootfs=/r\nExec=x\n");
  put("b/task.yaml", "name: t\n");
  put("c/large.container", "#".repeat(2 << 20));
  mkdirSync(join(top, "d"));
  symlinkSync("/dev/zero", join(top, "d/zero.container"));
  expect(() => read("empty")).toThrow("it has no file of Quadlet such as web.container");
  expect(() => read("a/x.container", "b/y.container")).toThrow("the files are in several directories");
  expect(() => read("a", "b")).toThrow("is a directory, and is applied alone");
  expect(() => read("b/y.container", "b/task.yaml")).toThrow("is no file of Quadlet, and the others are");
  expect(() => read("c")).toThrow("large.container: it has more than 1048576 bytes");
  expect(() => read("d")).toThrow("zero.container: it is no regular file");
  expect(() => read("a/gone.container")).toThrow("gone.container: no such file or directory");
});

/** What tests of hostile images share: layouts, tasks made of them, and what must be as it was. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { baseLayer, type ImageText, writeLayout } from "./image-files.ts";
import { http, type Scene, until } from "./support.ts";

export function hostileScene(scene: Scene) {
  let count = 0;
  const witness = () => join(scene.directory, "witness");
  const images = () => join(scene.stateDir, "images");
  const layout = (image: Partial<ImageText> = {}): string => {
    const directory = join(scene.directory, `layout-${++count}`);
    writeLayout(directory, { layers: [baseLayer()], ...image });
    return directory;
  };
  /** Of the base, with this on top of it. */
  const above = (...layers: Buffer[]) => layout({ layers: [baseLayer(), ...layers] });
  const task = async (name: string) => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = (name: string, directory: string, script = "true", fields: object = {}) =>
    http(scene.socket, "POST", "/v1/apply", {
      text: JSON.stringify({
        name,
        containers: [
          { name: "main", image: `oci:${directory}:v1`, command: "/bin/sh", args: ["-c", script], stopTimeout: "5s", ...fields },
        ],
      }),
    });
  const stopped = async (name: string) => {
    await until(async () => (await task(name)).known === "STOPPED");
    return task(name);
  };
  const remove = async (name: string) => {
    expect((await http(scene.socket, "DELETE", `/v1/tasks/${name}`)).status).toBeLessThan(300);
    await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}`)).status === 404);
  };
  /** What a script prints in a container of this image. */
  const said = async (directory: string, script: string, fields: object = {}): Promise<string[]> => {
    await apply("good", directory, script, fields);
    const record = await stopped("good");
    expect(record.reason).toMatch(/exited with 0$/);
    const lines = readFileSync(record.containers[0].log, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" ").slice(3).join(" "));
    await remove("good");
    return lines;
  };
  const makeWitness = () => {
    rmSync(witness(), { recursive: true, force: true });
    mkdirSync(witness());
    writeFileSync(join(witness(), "secret"), "secret", { mode: 0o600 });
  };
  const assertUntouched = async () => {
    expect(readdirSync(witness())).toEqual(["secret"]);
    const { mode, uid, nlink } = statSync(join(witness(), "secret"));
    expect({ mode: mode & 0o7777, uid, nlink, text: readFileSync(join(witness(), "secret"), "utf8") }).toEqual({
      ...{ mode: 0o600, uid: 0, nlink: 1, text: "secret" },
    });
    expect(readdirSync(images()).sort()).toEqual(["layers", "layout", "roots", "staging", "unsynced"]);
    await until(() => readdirSync(join(images(), "staging")).length === 0);
    expect(readdirSync(join(images(), "roots"))).toEqual([]);
  };
  return { witness, images, layout, above, task, apply, stopped, remove, said, makeWitness, assertUntouched };
}

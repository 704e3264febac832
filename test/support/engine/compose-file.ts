/** Compose files for tests, and what is read of them. */
import { expect } from "vitest";
import { renderFinding } from "../../../src/engine/spec/index.ts";
import { parseCompose } from "../../../src/pod/compose/parse.ts";

const FILES: Readonly<Record<string, string>> = {
  "/srv/app/deep/base.yaml": `services:
  base: { extends: { file: more.yaml, service: more }, volumes: [./data:/d, { type: bind, source: up, target: /u }], env_file: base.env }
  loop: { extends: { file: ../loop.yaml, service: loop } }
`,
  "/srv/app/deep/more.yaml": `services:\n  more: { x-runt-rootfs: /r, command: "run \${WORD:-nothing}", hostname: "$$HOME" }\n`,
  "/srv/app/deep/base.env": "FILE=deep\n",
  "/srv/app/loop.yaml": "services:\n  loop: { extends: { file: deep/base.yaml, service: loop } }\n",
  "/srv/app/bad.yaml": "services:\n  a: { b: [\n",
  "/srv/app/web.env": "A=1\nB=file $WHO\n",
  "/srv/app/more.env": "A=2\nOUTSIDE\n",
  "/srv/app/token": "s3cr3t\n",
};
export const readFile = (path: string) => {
  const content = FILES[path];
  if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
  return Buffer.from(content);
};
export const read = (text: string, { environment = {} as Record<string, string>, profiles = [] as string[] } = {}) =>
  parseCompose(text, { environment, profiles, directory: "/srv/app", readFile })!;
/** "line:column pointer message" of every finding. */
export const told = (text: string) => read(text).findings.map((one) => renderFinding(one, "f"));
export const one = (fields: string) => `services:\n  web:\n    x-runt-rootfs: /r\n    command: serve\n${fields}`;
export const only = (text: string, options = {}) => {
  const { tasks, findings } = read(text, options);
  expect(findings).toEqual([]);
  expect(tasks).toHaveLength(1);
  return tasks[0]!;
};
export const container = (fields: string, options = {}) => only(one(fields), options).containers[0]!;

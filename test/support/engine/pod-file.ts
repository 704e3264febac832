/** Files with a pod of Kubernetes, written from their parts, and what is read from them. */
import { expect } from "vitest";
import { renderFinding } from "../../../src/engine/spec/index.ts";
import { parseFile } from "../../../src/pod/index.ts";

const HOST = { name: "node-1", cpus: 4, memoryBytes: 8 * 1024 ** 3, machines: ["vm"] };

export const read = (text: string) => parseFile(text, HOST);

/** "line:column pointer message" of every finding. */
export const told = (text: string) => read(text).findings.map((one) => renderFinding(one, "f"));

export const CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: conf }\ndata: { PORT: "80", app.ini: "a=1" }\n---\n';
export const SECRET =
  "apiVersion: v1\nkind: Secret\nmetadata: { name: keys }\ndata: { TOKEN: czNjcjN0 }\nstringData: { PLAIN: text }\n---\n";

const HEAD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  annotations: { runt.dev/rootfs.a: /srv/a, runt.dev/rootfs.b: /srv/b }\n";

/** A pod with this spec, whose lines are indented by two. */
export const pod = (spec: string) => `${HEAD}spec:\n${spec}`;

/** A pod of one container with these fields, and with further ones of the spec. */
export const one = (fields: string, further = "") => pod(`  containers:\n  - name: a\n    command: [sh]\n${fields}${further}`);

/** The one task of a file without findings. */
export const only = (text: string) => {
  const { tasks, findings } = read(text);
  expect(findings).toEqual([]);
  expect(tasks).toHaveLength(1);
  return tasks[0]!;
};

/** The first container of that task. */
export const first = (text: string) => only(text).containers[0]!;

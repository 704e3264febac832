import { expect, test } from "vitest";
import { type Finding, renderFinding } from "../../engine/index.ts";
import { parseFile } from "../../pod/index.ts";
import { joined } from "./joined.ts";

const file = (source: string, text: string) => ({ source, text, group: "default", from: `/${source}` });
const HOST = { name: "here", cpus: 2, memoryBytes: 2 ** 30 };
const POD = `apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  containers:
    - { name: a, image: a.b/c, env: [{ name: WORD, valueFrom: { configMapKeyRef: { name: conf, key: word } } }] }`;
const CONF = "kind: ConfigMap\napiVersion: v1\nmetadata: { name: conf }\ndata: { word: hello }\n";

test.each(["", "---\n", "# its words\n\n--- # one\n", "%YAML 1.2\n---\n"])(
  "a pod has what is in the other file, which begins with %j",
  (head) => {
    for (const [first, other] of [
      [POD, head + CONF],
      [CONF, head + POD],
    ] as const) {
      const { text, from } = joined(file("a.yaml", first), [file("b.yaml", other)]);
      expect(from).toBe("/a.yaml");
      const { tasks, findings } = parseFile(text, HOST);
      expect(findings).toEqual([]);
      expect(tasks.map(({ containers }) => containers[0]!.env)).toEqual([{ WORD: "hello" }]);
    }
  },
);

test("errors have the file and the line where they are written", () => {
  const wrong = POD.replace("image:", "imag:");
  const told = (text: string, origin: (one: Finding) => Finding) =>
    parseFile(text, HOST).findings.map((one) => renderFinding(origin(one), "a.yaml").replace(/: .*/, ""));
  const last = joined(file("a.yaml", CONF), [file("b.yaml", CONF.replaceAll("conf", "more")), file("c.yaml", wrong)]);
  expect(told(last.text, last.origin!)[0]).toBe("c.yaml:6:18");
  const first = joined(file("a.yaml", wrong), [file("b.yaml", CONF)]);
  expect(told(first.text, first.origin!)[0]).toBe("a.yaml:6:18");
  expect(() => joined(file("a", "#".repeat(3 * 2 ** 20)), [file("b", "#".repeat(2 ** 20))])).toThrow("together have more than");
});

/** References that make a text grow: the result is limited in every kind of file. */
import { expect, test } from "vitest";
import { parseCompose, parseFile, variablesIn } from "./index.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 1, images: "oci:/srv/images" };
const TOLD = expect.stringContaining("grow to more than");
const LONGEST_MS = 30_000;

const podOf = (containers: object[]) =>
  JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { restartPolicy: "Never", containers } });
const bomb = [
  { name: "A0", value: "x".repeat(10) },
  ...Array.from({ length: 12 }, (_, index) => ({ name: `A${index + 1}`, value: `$(A${index})`.repeat(10) })),
];

test("variables of a pod that refer to each other, in one container and in many, in arguments, too", () => {
  const container = { name: "a", image: "app:v1" };
  expect(parseFile(podOf([{ ...container, env: bomb }]), HOST).findings).toMatchObject([{ code: "limit", message: TOLD }]);
  const wide = Array.from({ length: 40 }, (_, index) => ({ ...container, name: `a${index}`, env: bomb.slice(0, 6) }));
  expect(parseFile(podOf(wide), HOST).findings[0]).toMatchObject({ code: "limit", message: TOLD });
  const args = { ...container, env: [{ name: "A", value: "x".repeat(1000) }], args: ["$(A)".repeat(10_000)] };
  expect(parseFile(podOf([args]), HOST).findings[0]).toMatchObject({ code: "limit", pointer: "/spec/containers/0/args/0", message: TOLD });
});

test("a large ConfigMap in many volumes, and many replicas of a large pod, are told", () => {
  const data = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { a: "x".repeat(200_000) } };
  const volumes = Array.from({ length: 50 }, (_, index) => ({ name: `v${index}`, configMap: { name: "c" } }));
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "app:v1" }], volumes } };
  const { findings } = parseFile([data, pod].map((one) => JSON.stringify(one)).join("\n---\n"), HOST);
  expect(findings).toMatchObject([{ code: "limit", message: expect.stringContaining("replicas counted") }]);
});

test("Compose: expressions within each other, variables that grow, and values that are too long", () => {
  const compose = (value: string, environment: Record<string, string> = {}, files: Record<string, string> = {}) =>
    parseCompose(`services:\n  a:\n    image: app:v1\n    env_file: [x]\n    command: ${JSON.stringify(value)}\n`, {
      ...{ environment, directory: "/d", profiles: [], images: "oci:/srv/images" },
      readFile: (path) => Buffer.from(files[path] ?? ""),
    })!.findings;
  const begun = performance.now();
  expect(compose(`${"${A:-".repeat(40_000)}x${"}".repeat(40_000)}`)).toMatchObject([
    { message: expect.stringContaining("more than 20 times") },
  ]);
  expect(compose("${A:-".repeat(50_000))).toMatchObject([{ message: '"${" is not closed' }]);
  expect(compose("$A".repeat(50_000), { A: "x".repeat(1000) })).toMatchObject([{ message: TOLD }]);
  const doubling = ["A=xxxxxxxxxx", ...Array.from({ length: 40 }, (_, index) => `A${index + 1}=$A${index || ""}$A${index || ""}`)].join(
    "\n",
  );
  expect(compose("x", {}, { "/d/x": doubling })).toMatchObject([{ message: expect.stringContaining("grow to more than") }]);
  expect(performance.now() - begun).toBeLessThan(LONGEST_MS);
  expect(compose(["$", "{A:-$", "{B:-$", "{C:-d}}} $$ $", "{E+f}"].join(""), { E: "" })).toEqual([]);
});

test.each([
  `A="${"x\n".repeat(100_000)}`,
  `A="${'\\"'.repeat(200_000)}`,
  `A=a${" ".repeat(400_000)}b`,
  Array.from({ length: 50_000 }, (_, index) => `A${index}=1`).join("\n"),
  `export${" ".repeat(400_000)}=`,
])("an env file of one kind takes no longer than it is long, case %#", (text) => {
  const begun = performance.now();
  try {
    variablesIn(text, {});
  } catch (error) {
    expect((error as Error).message).toMatch(/^line \d+/);
  }
  expect(performance.now() - begun).toBeLessThan(LONGEST_MS);
});

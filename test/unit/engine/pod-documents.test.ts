/** Documents of pods, whatever is in them and whatever has become of them: what was applied is what is shown, and Kubernetes' own types take it. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ContainerRecord, newRecord, type TaskRecord } from "../../../src/engine/model/index.ts";
import { detailOf } from "../../../src/engine/run/detail.ts";
import { Paths } from "../../../src/engine/run/paths.ts";
import { viewOf } from "../../../src/engine/run/view.ts";
import { type HostFacts, nodeOf, parseFile, podOf } from "../../../src/pod/index.ts";
import { SCHEMAS } from "../../../src/pod/manifest/file.ts";
import { type Field, fieldsOf } from "../../../tools/gen-fields.ts";
import { REPOSITORY } from "../../support/programs.ts";

const HOST = { name: "node-1", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/srv/images" };
const AT = { bootId: "b", bootMs: 1, wallMs: Date.UTC(2026, 0, 1) };

const name = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const text = fc.string({ minLength: 1, maxLength: 12 }).map((value) => value.replaceAll(/[\0$]/g, "x"));
const action = fc.oneof(
  fc.record({ exec: fc.record({ command: fc.array(text, { minLength: 1, maxLength: 3 }) }) }),
  fc.record({ httpGet: fc.record({ port: fc.integer({ min: 1, max: 65_535 }), path: fc.constantFrom("/", "/up") }) }),
  fc.record({ tcpSocket: fc.record({ port: fc.integer({ min: 1, max: 65_535 }) }) }),
  fc.record({ grpc: fc.record({ port: fc.integer({ min: 1, max: 65_535 }) }) }),
);
const probe = fc
  .tuple(
    action,
    fc.record({ periodSeconds: fc.integer({ min: 1, max: 99 }), failureThreshold: fc.integer({ min: 1, max: 99 }) }, { requiredKeys: [] }),
  )
  .map(([how, times]) => ({ ...how, ...times }));
const amounts = fc.record({ cpu: fc.constantFrom("100m", "1", "0.5"), memory: fc.constantFrom("64Mi", "1G", "1e6") }, { requiredKeys: [] });
const container = fc.record(
  {
    image: fc.constantFrom("app:v1", "registry.example/shop/web"),
    command: fc.array(text, { minLength: 1, maxLength: 3 }),
    args: fc.array(text, { maxLength: 3 }),
    env: fc.uniqueArray(fc.record({ name: fc.stringMatching(/^[A-Z]{1,6}$/), value: text }), { selector: (one) => one.name, maxLength: 3 }),
    resources: fc.record({ limits: amounts }, { requiredKeys: [] }),
    readinessProbe: probe,
    livenessProbe: probe,
    startupProbe: probe,
    workingDir: fc.constantFrom("/", "/srv"),
    tty: fc.boolean(),
    securityContext: fc.record({ privileged: fc.boolean(), readOnlyRootFilesystem: fc.boolean() }, { requiredKeys: [] }),
  },
  { requiredKeys: ["image"] },
);
const pod = fc
  .record({
    name,
    labels: fc.dictionary(name, fc.stringMatching(/^(?:[A-Za-z0-9][-A-Za-z0-9_.]{0,9}[A-Za-z0-9])?$/), { maxKeys: 2 }),
    main: fc.array(container, { minLength: 1, maxLength: 3 }),
    init: fc.array(fc.record({ image: fc.constant("app:v1"), restartPolicy: fc.constant("Always") }, { requiredKeys: ["image"] }), {
      maxLength: 2,
    }),
    restartPolicy: fc.constantFrom("Always", "OnFailure", "Never"),
    volumes: fc.array(
      fc.constantFrom(
        { emptyDir: {} },
        { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
        { hostPath: { path: "/srv", type: "DirectoryOrCreate" } },
      ),
      { maxLength: 2 },
    ),
  })
  .map(({ name: podName, labels, main, init, restartPolicy, volumes }) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: podName, labels },
    spec: {
      restartPolicy,
      containers: main.map((one, index) => ({ name: `c${index}`, ...one })),
      initContainers: init.map((one, index) => ({ name: `i${index}`, ...one })),
      volumes: volumes.map((one, index) => ({ name: `v${index}`, ...one })),
    },
  }));

const exit = (code: number | null) => ({ code, signal: null, oomKilled: false, unknown: code === null, endedWallMs: AT.wallMs + 1000 });
const CHECKED = { status: "HEALTHY", sinceWallMs: AT.wallMs, failures: 0, isChecking: false, nextCheck: null, output: "" } as const;
const LIVES: readonly Partial<ContainerRecord>[] = [
  {},
  { known: "RUNNING", startedAt: AT },
  { known: "STOPPED", startedAt: AT, stoppedAt: AT, exit: exit(0) },
  { known: "STOPPED", startedAt: AT, stoppedAt: AT, exit: exit(3) },
  { known: "STOPPED", startedAt: AT, stoppedAt: AT, exit: exit(null) },
  { known: "PULLED", startedAt: AT, restarts: 2, exit: exit(1) },
  { known: "RUNNING", startedAt: AT, health: CHECKED, startup: CHECKED },
];
const life = fc.array(fc.constantFrom(...LIVES), { minLength: 6, maxLength: 6 });

/** The pod as it is shown, when its containers are as `lives` says. */
function shown(document: unknown, lives: readonly Partial<ContainerRecord>[], isOver: boolean) {
  const { tasks, findings } = parseFile(JSON.stringify(document), HOST);
  expect(findings).toEqual([]);
  const record = newRecord({ id: "default.p.1", group: "default", spec: tasks[0]!, cgroup: null, at: AT });
  const lived: TaskRecord = {
    ...record,
    admission: isOver ? "released" : "admitted",
    known: isOver ? "STOPPED" : "RUNNING",
    containers: record.containers.map((one, index) => ({ ...one, ...lives[index % lives.length] })),
  };
  const facts = { task: viewOf(lived, new Paths("/state")), detail: detailOf(lived, { isRedacted: false }), hostAddresses: ["192.0.2.1"] };
  return { task: tasks[0]!, document: podOf(facts)! };
}

test("P21 P27 what was applied is what is shown, and what is shown can be applied: it is the same task", () => {
  fc.assert(
    fc.property(pod, life, fc.boolean(), (written, lives, isOver) => {
      const { task, document } = shown(written, lives, isOver);
      expect(document).toMatchObject({ apiVersion: "v1", kind: "Pod", spec: written.spec, metadata: written.metadata });
      const again = parseFile(JSON.stringify(document), HOST);
      expect(again.findings).toEqual([]);
      // What it was made from is with it, and says more now.
      const { annotations: _, ...what } = again.tasks[0]!;
      const { annotations: __, ...before } = task;
      expect(what).toEqual(before);
    }),
    { numRuns: 30 },
  );
});

const DECODER = join(REPOSITORY, "build/test/strict-decoder");
const NODE: HostFacts = {
  ...{ name: "n", addresses: ["192.0.2.1"], architecture: "x64", kernel: "6.1", version: "0.1.0", measuredMs: AT.wallMs },
  memory: { bytes: 2 ** 33, availableBytes: 2 ** 30 },
  disk: { bytes: 2 ** 40, availableBytes: 2 ** 39, files: 100, freeFiles: 50 },
  processes: { most: 1000, used: 10 },
};
const VIEW = {
  ...{ bootId: "b", epoch: 1, lastSequence: 1, tasks: 1, conditions: [] },
  ledger: { cpus: { capacity: 4, used: 1 }, memoryBytes: { capacity: 2 ** 33, used: 0 }, ports: [], waiting: 0 },
};

/** Whether the schema takes the field, or refuses it or what has it by name. */
function isKnown(ours: ReadonlyMap<string, Field>, path: string): boolean {
  if (ours.has(path)) return true;
  for (let at = path; at !== ""; ) {
    at = at.slice(0, Math.max(at.lastIndexOf("."), at.lastIndexOf("[]"), 0));
    const { refusal = "", values = "" } = ours.get(at) ?? {};
    if (refusal !== "" || values === ELSEWHERE || values.includes("any value")) return true;
  }
  return false;
}

const ELSEWHERE = "of another kind";
const OTHERS = ["metadata", "spec.template", "spec.jobTemplate.spec.template"];

describe.skipIf(!existsSync(DECODER))("the types of Kubernetes (make test-pod-documents builds a program that has them)", () => {
  test("every field of the kinds that are taken is taken, or refused by its name", () => {
    const unknown = execFileSync(DECODER, ["fields"], { encoding: "utf8", maxBuffer: 2 ** 24 })
      .trimEnd()
      .split("\n")
      .flatMap((line) => {
        const [kind, path] = line.split(" ") as [keyof typeof SCHEMAS, string];
        const elsewhere = kind === "Pod" ? [] : OTHERS.map((one): [string, string] => [one, ELSEWHERE]);
        const ours = new Map(fieldsOf(SCHEMAS[kind], new Map(elsewhere)).map((one) => [one.path, one]));
        return path.startsWith("status") || isKnown(ours, path) ? [] : [line];
      });
    expect(unknown).toEqual([]);
  });

  const decode = (documents: readonly unknown[]) =>
    execFileSync(DECODER, { input: documents.map((one) => `${JSON.stringify(one)}\n`).join(""), encoding: "utf8", maxBuffer: 2 ** 27 })
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  test("P1 P21 P34 every document is one of theirs, with no field more, and says to them what it says to us", () => {
    const documents = fc
      .sample(fc.tuple(pod, life, fc.boolean()), 200)
      .map(([written, lives, isOver]) => shown(written, lives, isOver).document);
    const decoded = decode([...documents, nodeOf(VIEW, NODE)]);
    expect(decoded).toHaveLength(201);
    for (const [index, { status }] of documents.entries()) {
      expect(decoded[index].status.phase).toBe(status.phase);
      expect(decoded[index].status.containerStatuses).toMatchObject(status.containerStatuses as object[]);
    }
    expect(() => decode([{ kind: "Pod", spec: { containers: [], no: 1 } }])).toThrow();
  });
});

import { expect, test } from "vitest";
import type { ContainerView, TaskDetail, TaskView } from "../../engine/index.ts";
import { podOf } from "./pod.ts";

type Container = Partial<ContainerView> & {
  readonly name: string;
  readonly health?: "HEALTHY" | "UNHEALTHY" | "UNKNOWN";
  readonly startup?: "HEALTHY" | "UNKNOWN";
  readonly why?: "StartFailed";
  readonly said?: string;
};

const T = Date.UTC(2026, 0, 1);
const exit = (code: number | null, more: object = {}) => ({
  code,
  signal: null,
  oomKilled: false,
  unknown: code === null,
  endedWallMs: T + 5000,
  ...more,
});
const up = { known: "RUNNING", startedMs: T } as const;
const over = (code: number | null, more: object = {}) =>
  ({ known: "STOPPED", startedMs: T, stoppedMs: T + 5000, exit: exit(code, more) }) as const;

function podWith(
  containers: readonly Container[],
  task: Partial<TaskView> = {},
  { init = [] as readonly object[], restartPolicy = "Never", spec = {}, why = null as TaskDetail["reason"] } = {},
) {
  const readinessProbe = { exec: { command: ["x"] } };
  const names = containers
    .slice(init.length)
    .map(({ name, health }) => ({ name, command: ["x"], image: "img", ...(health === undefined ? {} : { readinessProbe }) }));
  const document = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { restartPolicy, initContainers: init, containers: names, ...spec },
  };
  const view = (one: Container): ContainerView => ({
    type: "normal",
    id: `id-${one.name}`,
    generation: 1,
    desired: "RUNNING",
    known: "NONE",
    restarts: 0,
    startedMs: null,
    stoppedMs: null,
    exit: null,
    lastRun: null,
    waitsForRestart: false,
    reason: null,
    updateError: null,
    agents: [],
    image: null,
    log: "",
    ...one,
    health: one.health ?? null,
  });
  const detail: TaskDetail = {
    id: "g.p.1",
    reason: why,
    readiness: { state: "ready", why: "" },
    spec: { annotations: { "runt.dev/pod": JSON.stringify(document) } },
    resources: [],
    containers: containers.map(({ name, health, startup, why, said }) => ({
      name,
      reason: why === undefined ? null : { code: why, text: why },
      health: health === undefined ? null : { status: health, sinceMs: T + 3000, failures: 0, output: "" },
      ...(startup === undefined ? {} : { startup: { status: startup, sinceMs: null, failures: 0, output: "" } }),
      dependsOn: [],
      endMessage: said,
    })),
  };
  const whole = {
    id: "g.p.1",
    known: "RUNNING",
    admission: "admitted",
    createdMs: T,
    pulls: null,
    generation: 1,
    reason: null,
    waiting: null,
    addresses: [],
    ...task,
  } as TaskView;
  return podOf({ task: { ...whole, containers: containers.map(view) }, detail, hostAddresses: ["192.0.2.1"] })!;
}
const phase = (...all: Parameters<typeof podWith>) => podWith(...all).status.phase;
const conditions = (...all: Parameters<typeof podWith>) =>
  Object.fromEntries(podWith(...all).status.conditions!.map(({ type, status }) => [type, status]));
const STOPPED = { known: "STOPPED" } as const;

/** Kubernetes, "Pod Lifecycle", "Pod phase". */
test("P28 Pending until all have begun, Running, Succeeded only when every one has ended with 0, else Failed", () => {
  expect(phase([{ name: "a" }], { admission: "waiting", known: "NONE" })).toBe("Pending");
  expect(phase([{ name: "a", ...up }, { name: "b" }])).toBe("Pending");
  expect(
    phase([
      { name: "a", ...up },
      { name: "b", ...over(0) },
    ]),
  ).toBe("Running");
  expect(
    phase(
      [
        { name: "a", ...over(0) },
        { name: "b", ...over(0) },
      ],
      STOPPED,
    ),
  ).toBe("Succeeded");
  expect(
    phase(
      [
        { name: "a", ...over(0) },
        { name: "b", ...over(3) },
      ],
      STOPPED,
    ),
  ).toBe("Failed");
  expect(phase([{ name: "a", ...over(null) }], STOPPED)).toBe("Failed");
  expect(phase([{ name: "a", known: "STOPPED" }], STOPPED)).toBe("Failed");
  // A container that waits for its restart: the kubelet reports Running.
  expect(phase([{ name: "a", ...up, known: "PULLED", restarts: 1, exit: exit(1) }])).toBe("Running");
});

test("P28 P32 ends: with 0, with another code, by a signal, for memory, unseen, and one that could not begin", () => {
  const states = podWith(
    [
      { name: "a", ...over(0) },
      { name: "b", ...over(3) },
      { name: "c", ...over(143, { signal: 15 }) },
      { name: "d", ...over(137, { signal: 9, oomKilled: true }) },
      { name: "e", ...over(null) },
      { name: "f", known: "STOPPED", why: "StartFailed", reason: "no such program" },
    ],
    STOPPED,
  ).status.containerStatuses!;
  expect(states.map(({ state }) => [state?.terminated?.exitCode, state?.terminated?.signal, state?.terminated?.reason])).toEqual([
    [0, undefined, "Completed"],
    [3, undefined, "Error"],
    [143, 15, "Error"],
    [137, 9, "OOMKilled"],
    [137, undefined, "ContainerStatusUnknown"],
    [128, undefined, "StartError"],
  ]);
  expect(states[0]!.state!.terminated).toMatchObject({
    startedAt: "2026-01-01T00:00:00Z",
    finishedAt: "2026-01-01T00:00:05Z",
    containerID: "runt://id-a",
  });
  expect(states[5]!.state!.terminated).toMatchObject({ message: "no such program" });
});

test("P32 what containers say of their ends: all of them together 12 KiB, each the same part", () => {
  const long = "x".repeat(4096);
  const said = (known: "STOPPED" | "PULLED", count: number) =>
    podWith(
      Array.from({ length: count }, (_, index) => ({
        name: `c${index}`,
        ...over(1),
        known,
        restarts: 1,
        said: index === 0 ? "no room" : long,
      })),
      known === "STOPPED" ? STOPPED : {},
    ).status.containerStatuses!.map(({ state, lastState }) => (state?.terminated ?? lastState?.terminated)?.message);
  expect(said("STOPPED", 3)).toEqual(["no room", long, long]);
  expect(said("PULLED", 4)).toEqual(["no room", ...Array.from({ length: 3 }, () => long.slice(0, 3072))]);
});

test("P32 a container that is started again: how often, and how it has ended before", () => {
  const waiting = podWith([{ name: "a", ...up, known: "PULLED", restarts: 2, exit: exit(1) }]).status.containerStatuses![0]!;
  expect(waiting).toMatchObject({
    restartCount: 2,
    ready: false,
    state: { waiting: { reason: "CrashLoopBackOff" } },
    lastState: { terminated: { exitCode: 1 } },
  });
  const lastRun = { id: "t.a.2", startedMs: T - 60_000, failedCheck: null };
  const running = podWith([{ name: "a", ...up, id: "t.a.3", restarts: 2, exit: exit(1), lastRun }]).status.containerStatuses![0]!;
  expect(running).toMatchObject({
    ready: true,
    containerID: "runt://t.a.3",
    state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
    lastState: { terminated: { exitCode: 1, containerID: "runt://t.a.2", startedAt: "2025-12-31T23:59:00Z" } },
  });
  expect(podWith([{ name: "a", ...up }]).status.containerStatuses![0]).not.toHaveProperty("lastState");
});

test("P29 conditions over a life with a probe: ready only while it runs and is healthy", () => {
  const all = (PodScheduled: string, Initialized: string, Ready: string) => ({ PodScheduled, Initialized, ContainersReady: Ready, Ready });
  expect(conditions([{ name: "a", health: "UNKNOWN" }], { admission: "waiting", waiting: ["memory"] })).toEqual(
    all("False", "True", "False"),
  );
  expect(conditions([{ name: "a", ...up, health: "UNKNOWN" }])).toEqual(all("True", "True", "False"));
  expect(conditions([{ name: "a", ...up, health: "HEALTHY" }])).toEqual(all("True", "True", "True"));
  expect(conditions([{ name: "a", ...up, health: "UNHEALTHY" }])).toEqual(all("True", "True", "False"));
  expect(conditions([{ name: "a", ...over(0), health: "HEALTHY" }], STOPPED)).toEqual(all("True", "True", "False"));
  // Before its startup has succeeded, the result of its readiness probe does not count.
  expect(conditions([{ name: "a", ...up, health: "HEALTHY", startup: "UNKNOWN" }])).toEqual(all("True", "True", "False"));
  expect(conditions([{ name: "a", ...up, startup: "HEALTHY" }])).toEqual(all("True", "True", "True"));
  const ready = podWith([{ name: "a", ...up, health: "HEALTHY" }]).status.conditions!.find(({ type }) => type === "Ready");
  expect(ready).toMatchObject({ lastTransitionTime: "2026-01-01T00:00:03Z" });
  const init = [{ name: "i", command: ["x"], image: "img" }];
  expect(conditions([{ name: "i", ...up }, { name: "a" }], {}, { init })).toEqual(all("True", "False", "False"));
  expect(
    conditions(
      [
        { name: "i", ...over(0) },
        { name: "a", ...up },
      ],
      {},
      { init },
    ),
  ).toEqual(all("True", "True", "True"));
});

test("P30 a start time in RFC 3339, and none for what waits for room", () => {
  expect(podWith([{ name: "a", ...up }]).status.startTime).toBe("2026-01-01T00:00:00Z");
  expect(podWith([{ name: "a" }], { admission: "waiting" }).status).not.toHaveProperty("startTime");
});

test("what was written stays; a task without a document, or whose document may not be seen, is no pod", () => {
  expect(podWith([{ name: "a", ...up }])).toMatchObject({
    kind: "Pod",
    metadata: { name: "p", namespace: "default", generation: 1 },
    spec: { restartPolicy: "Never" },
  });
  const detail = { id: "t", reason: null, readiness: { state: "ready", why: "" } as const, resources: [], containers: [] };
  expect(podOf({ task: {} as TaskView, detail: { ...detail, spec: {} }, hostAddresses: [] })).toBeUndefined();
  expect(
    podOf({ task: {} as TaskView, detail: { ...detail, spec: { annotations: { "runt.dev/pod": null } } }, hostAddresses: [] }),
  ).toBeUndefined();
});

test("P31 addresses of its own network, those of the host with hostNetwork, and none where it has nothing but loopback", () => {
  const up1 = [{ name: "a", ...up }];
  expect(podWith(up1, { addresses: ["10.201.0.2/20", "fd00::2/64"] }).status).toMatchObject({
    podIP: "10.201.0.2",
    podIPs: [{ ip: "10.201.0.2" }, { ip: "fd00::2" }],
    hostIP: "192.0.2.1",
  });
  expect(podWith(up1, {}, { spec: { hostNetwork: true } }).status).toMatchObject({ podIP: "192.0.2.1", hostIPs: [{ ip: "192.0.2.1" }] });
  const lacking = podWith(up1, { networkLacks: "the network plugin bridge is not installed" }).status;
  expect(lacking).not.toHaveProperty("podIP");
  expect(lacking.conditions).toContainEqual({
    ...{
      type: "runt.dev/LoopbackOnly",
      status: "True",
      reason: "NetworkUnavailable",
      message: "the network plugin bridge is not installed",
    },
  });
  expect(podWith(up1).status.conditions!.map(({ type }) => type)).not.toContain("runt.dev/LoopbackOnly");
  expect(podWith(up1, { admission: "waiting" }).status).not.toHaveProperty("hostIP");
});

/** Kubernetes, "Pod Lifecycle" and "API Overview": values with which a client may compare. */
test("P1 phases, types and reasons are words of Kubernetes, whatever has happened", () => {
  const PHASES = new Set(["Pending", "Running", "Succeeded", "Failed", "Unknown"]);
  const CONDITIONS = new Set(["PodScheduled", "Initialized", "ContainersReady", "Ready"]);
  const REASONS = new Set([
    ...[
      "Completed",
      "Error",
      "OOMKilled",
      "ContainerStatusUnknown",
      "StartError",
      "ContainerCreating",
      "PodInitializing",
      "CrashLoopBackOff",
    ],
    ...["Unschedulable", "ContainersNotInitialized", "ContainersNotReady", "PodCompleted"],
  ]);
  const lives: Container[] = [
    { name: "a" },
    { name: "a", ...up },
    { name: "a", ...over(0) },
    { name: "a", ...over(3) },
    { name: "a", ...over(137, { oomKilled: true }) },
    { name: "a", ...over(null) },
    { name: "a", known: "PULLED", restarts: 1 },
    { name: "a", known: "STOPPED", why: "StartFailed" },
  ];
  for (const life of lives) {
    for (const task of [{}, STOPPED, { admission: "waiting", waiting: ["memory"] } as const]) {
      const { status } = podWith([life], task);
      expect(PHASES).toContain(status.phase);
      for (const { type, reason } of status.conditions!) {
        expect(CONDITIONS).toContain(type);
        if (reason !== undefined) expect(REASONS).toContain(reason);
      }
      for (const { state } of status.containerStatuses!) {
        const reason = state!.terminated?.reason ?? state!.waiting?.reason;
        if (reason !== undefined) expect(REASONS).toContain(reason);
      }
    }
  }
});

/** Kubernetes, "Node-pressure Eviction": the phase is Failed, whatever the exit codes of the containers are. */
test("P28 a pod that was stopped for the size of a volume has failed, and the reason is Evicted", () => {
  const why = { code: "Evicted", text: "the volume a has 2 bytes in it, and may have 1" } as const;
  const { status } = podWith([{ name: "a", ...over(0) }], { ...STOPPED, reason: why.text }, { why });
  expect(status).toMatchObject({ phase: "Failed", reason: "Evicted", message: why.text });
  const late = { code: "DeadlineExceeded", text: "the task was active for longer than 1 s" } as const;
  const expired = podWith([{ name: "a", ...over(0) }], { ...STOPPED, reason: late.text }, { why: late });
  expect(expired.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded", message: late.text });
});

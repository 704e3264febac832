import { expect, test } from "vitest";
import { LARGEST_FILE, parseTasks, renderFinding, specDigest } from "./index.ts";

/** "line:column pointer message" of every finding. */
const told = (text: string) => parseTasks(text).findings.map((one) => renderFinding(one, "f"));
const container = (fields: string) => `name: t\ncontainers:\n  - name: c\n    rootfs: /r\n    command: x\n${fields}`;

test("durations, sizes and defaults become the one form the engine works with", () => {
  const { tasks, findings } = parseTasks(
    container("    memory: 64Mi\n    stopTimeout: 1m30s\n    healthCheck: { command: [x], interval: 2 }\n"),
  );
  expect(findings).toEqual([]);
  expect(tasks[0]!.containers[0]).toMatchObject({
    memory: 64 * 1024 * 1024,
    stopTimeout: 90_000,
    essential: true,
    stopSignal: "SIGTERM",
    healthCheck: { interval: 2000, timeout: 5000, retries: 3 },
  });
});

test("JSON is read as well, and each document of a file is a task", () => {
  const one = (name: string) => JSON.stringify({ name, containers: [{ name: "c", bundle: "/b" }] });
  expect(parseTasks(`${one("a")}\n---\n${one("b")}\n`).tasks.map(({ name }) => name)).toEqual(["a", "b"]);
});

test("all findings are told at once, each at its line and column", () => {
  const text = `name: web
memory: 64Mi
containers:
  - name: a
    rootfs: relative
    command: x
    memori: 5
  - name: b
    rootfs: /r
    memory: lots
    env: { PORT: 80 }
`;
  expect(told(text)).toEqual([
    "f:5:5: /containers/0/rootfs: is no absolute path",
    'f:7:5: /containers/0/memori: the field "memori" is not supported',
    'f:10:5: /containers/1/memory: write a size like "64Mi", "1.5Gi", "500M" or a number of bytes',
    "f:11:12: /containers/1/env/PORT: expected a string, not a number",
  ]);
  expect(parseTasks(text).tasks).toEqual([]);
});

test("E9 E56 E67 T14 what other systems have and this one does not is refused by its name, in the task, in a volume and in a container", () => {
  const text = container("    credentialSpecs: [x]\n    cniSetup: x\n").replace(
    "name: t\n",
    "name: t\nproxyConfiguration: { type: APPMESH }\nvolumes: [{ name: v, fsxWindowsFileServerVolumeConfiguration: { fileSystemId: f } }]\n",
  );
  expect(told(text)).toEqual([
    'f:2:1: /proxyConfiguration: the field "proxyConfiguration" is not supported',
    'f:3:22: /volumes/0/fsxWindowsFileServerVolumeConfiguration: the field "fsxWindowsFileServerVolumeConfiguration" is not supported',
    'f:8:5: /containers/0/credentialSpecs: the field "credentialSpecs" is not supported',
    'f:9:5: /containers/0/cniSetup: the field "cniSetup" is not supported',
  ]);
});

test("what is missing is told where its parent stands", () => {
  expect(told("name: t\ncontainers:\n  - rootfs: /r\n")).toEqual(["f:3:5: /containers/0/name: is missing"]);
});

test("T9 a limit of a container above that of its task names both", () => {
  expect(told(`memory: 64Mi\n${container("    memory: 128Mi\n")}`)).toEqual([
    "f:7:5: /containers/0/memory: 128 MiB of the container are more than the 64 MiB of the task",
  ]);
});

test("T7 a share of a CPU that the kernel cannot count is refused", () => {
  expect(told(`cpus: 0.005\n${container("")}`)).toEqual(["f:1:1: /cpus: 0.005 CPUs are less than the kernel can count: at least 0.01"]);
});

test("E59 annotations of the engine are not the user's to set", () => {
  expect(told(container("    annotations: { org.runt.task: mine }\n"))).toEqual([
    "f:6:20: /containers/0/annotations/org.runt.task: annotations that begin with org.runt. are set by the engine",
  ]);
});

test.each(["", "a/../b", "..", "a b", "ä", "-a", "x".repeat(64), "a.b"])(
  "T3 a name that cannot be part of a path is refused for a task (%j)",
  (name) => {
    const [finding] = parseTasks(`name: ${JSON.stringify(name)}\ncontainers: [{ name: c, bundle: /b }]\n`).findings;
    expect(finding).toMatchObject({ pointer: "/name", line: 1, code: "shape" });
  },
);

test("E60 a container may be called almost anything; not with a slash or a control character", () => {
  const named = (name: string) => parseTasks(JSON.stringify({ name: "t", containers: [{ name, bundle: "/b" }] })).findings.length;
  for (const name of ["a b", "ä🚀", "..", "-", "__proto__", "constructor"]) expect(named(name), name).toBe(0);
  for (const name of ["", "a/b", "a\nb", "a\0b", "x".repeat(256)]) expect(named(name), JSON.stringify(name)).toBeGreaterThan(0);
});

test("E33 containers that wait for each other are named in the order of the cycle", () => {
  const text = `name: t
containers:
  - { name: A, bundle: /b, dependsOn: [{ container: B }] }
  - { name: B, bundle: /b, dependsOn: [{ container: A }] }
  - { name: C, bundle: /b, dependsOn: [{ container: C }] }
`;
  expect(told(text)).toEqual([
    "f:3:42: /containers/0/dependsOn/0/container: containers wait for each other: A -> B -> A",
    "f:5:42: /containers/2/dependsOn/0/container: containers wait for each other: C -> C",
  ]);
});

test("E33 a cycle over two tasks of a group is found", () => {
  const one = (name: string, on: string) => `name: ${name}\ncontainers: [{ name: c, bundle: /b, dependsOn: [{ container: ${on} }] }]\n`;
  expect(told(`${one("x", "y/c")}---\n${one("y", "x/c")}`)).toEqual([
    expect.stringContaining("containers wait for each other: x/c -> y/c -> x/c"),
  ]);
});

test.each([
  ["{ container: nobody }", "", "there is no container nobody"],
  ["{ container: x/nobody }", "", "there is no container x/nobody"],
  ["{ container: d, condition: HEALTHY }", "", "d has no health check: it never becomes HEALTHY"],
  ["{ container: d, condition: SUCCESS }", "", "d is essential: the task stops when it ends"],
  ["{ container: d, condition: COMPLETE }", "", "d is essential: the task stops when it ends"],
  ["{ container: d, condition: SUCCESS }", "essential: false, restart: {}", "d is started again whenever it ends with 0"],
])("E91 a dependency that can never hold is refused: %s", (dependency, fields, message) => {
  const text = `name: t
containers:
  - { name: d, bundle: /b${fields === "" ? "" : `, ${fields}`} }
  - { name: c, bundle: /b, dependsOn: [${dependency}] }
`;
  expect(parseTasks(text).findings.map((one) => [one.line, one.message])).toEqual([[4, message]]);
});

test("what a bundle's config.json says already is not said twice", () => {
  expect(told("name: t\ncontainers: [{ name: c, bundle: /b, args: [x] }]\n")).toEqual([
    "f:2:37: /containers/0/args: the bundle's config.json says args: it cannot be given here",
  ]);
});

test("signals and capabilities are those of Linux", () => {
  expect(told(container("    stopSignal: SIGNONE\n    capabilities: { add: [CAP_NONE] }\n"))).toEqual([
    "f:6:5: /containers/0/stopSignal: there is no signal SIGNONE",
    "f:7:27: /containers/0/capabilities/add/0: there is no capability CAP_NONE",
  ]);
  for (const signal of ["USR1", "SIGUSR1", "SIGRTMIN+3", "9"]) expect(told(container(`    stopSignal: ${signal}\n`)), signal).toEqual([]);
});

test("a privileged container has all capabilities, and no_new_privs only when it is asked for", () => {
  const one = (fields: string) => parseTasks(container(fields)).tasks[0]!.containers[0]!;
  expect(one("    privileged: true\n")).toMatchObject({ privileged: true, noNewPrivileges: false });
  expect(one("    privileged: true\n    noNewPrivileges: true\n").noNewPrivileges).toBe(true);
  expect(one("").noNewPrivileges).toBe(true);
  const digests = ["", "    privileged: false\n", "    privileged: true\n"].map((fields) =>
    specDigest(parseTasks(container(fields)).tasks[0]!),
  );
  expect([digests[0] === digests[1], digests[0] === digests[2]]).toEqual([true, false]);
  expect(told(container("    privileged: true\n    capabilities: { add: [CAP_SYS_ADMIN], drop: [ALL] }\n"))).toEqual([
    "f:7:43: /containers/0/capabilities/drop: a privileged container has all capabilities",
  ]);
  expect(told("name: t\ncontainers: [{ name: c, bundle: /b, privileged: true }]\n")).toEqual([
    "f:2:37: /containers/0/privileged: the bundle's config.json says privileged: it cannot be given here",
  ]);
  expect(told("name: t\nhostPaths: []\ncontainers: [{ name: c, image: 'oci:/i', privileged: true }]\n")).toEqual([
    expect.stringContaining("/containers/0/privileged: with hostPaths it cannot be privileged"),
  ]);
});

test("hostile text is refused in bounded time and memory", () => {
  const bomb = ["a: &a0 [x, x]", ...Array.from({ length: 30 }, (_, n) => `b${n}: &a${n + 1} [*a${n}, *a${n}]`)].join("\n");
  expect(told(bomb)[0]).toContain("alias");
  const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join("\n");
  expect(told(keys)).toHaveLength(1000);
  expect(told("[".repeat(200_000))[0]).toMatch(/^f:1:/);
  expect(told("x".repeat(LARGEST_FILE + 1))).toEqual([`f:1:1: the file is larger than ${LARGEST_FILE} bytes`]);
  expect(told("")).toEqual(["f:1:1: the file has no task in it"]);
  expect(told("name: !!js/function x")[0]).toContain("tag");
  expect(told("name: a\nname: b\n")[0]).toContain('the key "name" is there twice');
  expect(told("__proto__: { name: x }\n")).toContain('f:1:1: /__proto__: the field "__proto__" is not supported');
});

test("volumes with files are for reading only, and parts of any volume can be mounted", () => {
  const text = (volume: string, mount: string) =>
    `name: t\nvolumes:\n  - ${volume}\ncontainers:\n  - name: c\n    rootfs: /r\n    command: x\n    mounts:\n      - ${mount}\n`;
  const files = "{ name: v, files: { a/b: { content: x } } }";
  expect(told(text(files, "{ volume: v, subPath: a/b, target: /t, readOnly: true }"))).toEqual([]);
  expect(told(text(files, "{ volume: v, target: /t }"))).toEqual([
    "f:9:9: /containers/0/mounts/0/readOnly: files of a volume are for reading only: readOnly has to be true",
  ]);
  for (const volume of ["{ name: v }", "{ name: v, kept: k }", "{ name: v, medium: memory }"])
    expect(told(text(volume, "{ volume: v, subPath: a, target: /t }"))).toEqual([]);
  expect(told(text("{ name: v, host: /h, files: {} }", "{ volume: v, target: /t, readOnly: true }"))[0]).toContain("/volumes/0/files");
  expect(told(text("{ name: v, hostType: File }", "{ volume: v, target: /t }"))[0]).toContain("/volumes/0/hostType: needs host");
  const image = "name: v, image: 'docker://h/data:v1'";
  expect(told(text(`{ ${image}, pullPolicy: never }`, "{ volume: v, target: /t, readOnly: true, subPath: a }"))).toEqual([]);
  expect(told(text(`{ ${image} }`, "{ volume: v, target: /t }"))[0]).toContain(
    "/containers/0/mounts/0/readOnly: an image is for reading only",
  );
  expect(told(text(`{ ${image}, size: 1Mi }`, "{ volume: v, target: /t, readOnly: true }"))[0]).toContain(
    "/volumes/0/image: is what the image has",
  );
  expect(told(text("{ name: v, pullPolicy: never }", "{ volume: v, target: /t }"))[0]).toContain("/volumes/0/pullPolicy: without an image");
  expect(told(text("{ name: v, files: { ../x: { content: x } } }", "{ volume: v, target: /t, readOnly: true }"))[0]).toContain(
    "is no path below it",
  );
});

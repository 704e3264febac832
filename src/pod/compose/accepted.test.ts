/** Fields of a service that were refused before: what the engine does for them, and what is told of those without an effect. */
import { expect, test } from "vitest";
import { container, one, only, read, told } from "../../../test/support/engine/compose-file.ts";

const warned = (fields: string, others = "") => {
  const { findings, warnings } = read(one(fields) + others);
  expect(findings).toEqual([]);
  return warnings.map(({ pointer, message }) => `${pointer}: ${message}`);
};

/** Docker, "docker run --mount volume-subpath". */
test("a part of a volume: of one that is kept, without a name, in memory, or a directory of the host", () => {
  const volume = (source: string) => `{ type: volume, source: ${source}, target: /${source}, volume: { subpath: ./a//b/ } }`;
  const mounts = ["data", "host", "mem"].map(volume);
  const text = `${one(`    volumes: [${mounts.join(", ")}, { type: volume, target: /x, volume: { subpath: c } }]\n`)}volumes:
  data:
  host: { driver_opts: { type: none, o: bind, device: /srv/host } }
  mem: { driver_opts: { type: tmpfs, o: 'size=1m,uid=1000,mode=0700' } }
`;
  expect(only(text).containers[0]!.mounts).toEqual([
    { volume: "data", target: "/data", subPath: "a/b", readOnly: false },
    { source: "/srv/host/a/b", target: "/host", readOnly: false },
    { volume: "mem", target: "/mem", subPath: "a/b", readOnly: false },
    { volume: "anonymous-3", target: "/x", subPath: "c", readOnly: false, noCopy: false },
  ]);
  expect(only(text).volumes).toContainEqual({ name: "mem", medium: "memory", size: 2 ** 20, user: 1000, mode: 0o700 });
});

/** Compose specification, "Using lifecycle hooks". */
test("several hooks run one after the other, each as its user, in its directory and with its variables", () => {
  const hooks = "[{ command: chown me /d, user: root }, { command: [a, b], working_dir: /w, environment: [A=b, WHO] }]";
  const found = container(`    post_start: ${hooks}\n    pre_stop: [{ command: bye }]\n`, { environment: { WHO: "me" } });
  expect(found.postStart).toMatchObject({
    commands: [
      { command: ["chown", "me", "/d"], env: {}, user: "root" },
      { command: ["a", "b"], env: { A: "b", WHO: "me" }, cwd: "/w" },
    ],
  });
  expect(found.preStop).toMatchObject({ command: ["bye"] });
  expect(container("    post_start: []\n")).not.toHaveProperty("postStart");
});

/** Compose specification, "external_links". */
test("external_links are names for tasks of other projects, in networks that both are in", () => {
  const networks = "    external_links: [redis_1, 'db_1:mysql']\n    networks: [proxy]\n";
  const given = read(`${one(networks)}networks: { proxy: { external: true } }\n`);
  expect(given.warnings).toEqual([]);
  expect(given.tasks[0]!.network).toMatchObject({
    links: [
      { name: "redis_1", alias: "redis_1" },
      { name: "db_1", alias: "mysql" },
    ],
  });
  expect(warned("    external_links: [redis_1]\n")).toEqual([
    "/services/web/external_links: has no effect: other projects are found only in a network that is external, or has a name",
  ]);
});

/** Compose specification, "cgroup", "cgroup_parent", "storage_opt". */
test("cgroups of the host, a cgroup above that of the service, and the size of its root file system", () => {
  const { tasks, findings } = read("services:\n  web: { image: a.b/c, cgroup: host, cgroup_parent: shop, storage_opt: { size: 1G } }\n");
  expect(findings).toEqual([]);
  expect(tasks[0]).toMatchObject({ cgroupParent: "shop", containers: [{ hostCgroups: true, rootSize: 1024 ** 3 }] });
});

test.each([
  ["storage_opt: { size: 1G }", "storage_opt: needs an image: a directory of the host has the size of its file system"],
  ["storage_opt: { dm.basesize: 1G }", 'storage_opt/dm.basesize: the field "dm.basesize" is not supported'],
  ["cgroup: mine", "cgroup: is host or private"],
  ["cgroup_parent: ../x", "cgroup_parent: has . or .. in it"],
])("%s is refused by name", (fields, message) => {
  expect(told(one(`    ${fields}\n`))).toEqual([expect.stringContaining(`/services/web/${message}`)]);
});

test.each([
  ["isolation: hyperv", "isolation: has no effect: it is of Windows"],
  ["attach: false", "attach: has no effect: `runtctl logs -f` shows the output of services"],
  ["develop: { watch: [] }", "develop: has no effect: files are not watched"],
  ["privileged: true\n    cap_drop: [ALL]", "cap_drop: has no effect, as with Docker: a privileged service has all capabilities"],
])("%s is accepted, and told of", (fields, message) => {
  expect(warned(`    ${fields}\n`)).toEqual([`/services/web/${message}`]);
});

test.each(["isolation: default", "ipc: shareable", "ipc: private", "cgroup: private"])("%s says what holds anyway", (fields) => {
  expect(warned(`    ${fields}\n`)).toEqual([]);
  expect(container(`    ${fields}\n`)).toEqual(container(""));
});

/** Compose specification, "provider", "models". */
test("a service of a provider has no image, and is refused in one line; so is one that uses models", () => {
  expect(told("services: { db: { provider: { type: cloud } }, web: { image: a, depends_on: [db] } }\n")).toEqual([
    "f:1:19: /services/db/provider: is not supported: programs of others do not run services: name an image",
  ]);
  expect(told("services: { web: { image: a, models: [m] } }\nmodels: { m: { model: ai/x } }\n")).toEqual([
    "f:1:30: /services/web/models: is not supported: models are not served: name an image that serves one",
  ]);
});

test("ipc: none has no /dev/shm, and cannot be shared", () => {
  expect(only(one("    ipc: none\n"))).toMatchObject({ namespaces: { ipc: "private" }, containers: [{ sharedMemory: false }] });
  expect(container("    ipc: private\n")).not.toHaveProperty("sharedMemory");
  expect(warned("    ipc: none\n    shm_size: 1m\n")).toEqual([
    expect.stringContaining("/services/web/shm_size: has no effect: with ipc: none"),
  ]);
  expect(told(`${one("    ipc: none\n")}  other: { x-runt-rootfs: /r, command: x, ipc: service:web }\n`)).toEqual([
    expect.stringContaining("/services/other/ipc: web has ipc: none, which nobody can share"),
  ]);
});

/** Source: docker/go-units, RAMInBytes; xhit/go-str2duration; moby, signal.ParseSignal; nat.ParsePortSpecs. */
test("small forms: times in days, sizes without a leading 0, signals as numbers, the port 0, ports of both families", () => {
  expect(container("    stop_grace_period: 1d\n").stopTimeout).toBe(86_400_000);
  expect(container("    stop_grace_period: 1w2d\n").stopTimeout).toBe(777_600_000);
  expect(container("    stop_grace_period: '0'\n").stopTimeout).toBe(0);
  expect(container("    stop_grace_period: .5s\n").stopTimeout).toBe(500);
  expect(container("    stop_grace_period: 1500000000ns\n").stopTimeout).toBe(1500);
  expect(container("    mem_limit: .5g\n").memory).toBe(2 ** 29);
  expect(container("    mem_limit: -1\n    mem_reservation: -1\n")).not.toHaveProperty("memory");
  expect(container("    stop_signal: '9'\n").stopSignal).toBe(9);
  expect(container("    stop_signal: sigint\n").stopSignal).toBe("SIGINT");
  const ports = (list: string) => only(one(`    ports: ${list}\n`)).network!.ports.map(({ host, address }) => [host, address]);
  expect(ports("['80:80', '[::]:80:80', '0.0.0.0:80:80', '[::]:81:80']")).toEqual([
    [80, undefined],
    [81, "::"],
  ]);
  expect(ports("['0:80']")).toEqual([[undefined, undefined]]);
});

test("of an external network only the name counts, with a warning; what no service uses may have any driver", () => {
  const file = read(
    `${one("    networks: [net]\n")}networks: { net: { external: true, name: n, driver: foreign, attachable: true, internal: true } }\n`,
  );
  expect([file.findings, file.tasks[0]!.network]).toEqual([[], expect.objectContaining({ name: "n", shared: true })]);
  expect(file.tasks[0]!.network).not.toHaveProperty("internal");
  expect(file.warnings.map(({ pointer }) => pointer)).toEqual(
    ["driver", "attachable", "internal"].map((field) => `/networks/net/${field}`),
  );
  expect(told(`${one("")}volumes: { v: { external: true, driver: local } }\n`)).toHaveLength(1);
  const unused = read(`${one("")}networks: { n: { driver: weave } }\nvolumes: { v: { driver: nfs, driver_opts: { a: b } } }\n`);
  expect(unused.findings).toEqual([]);
  expect(unused.warnings.map(({ message }) => message)).toEqual(Array(3).fill(expect.stringMatching(/No service uses it$/)));
  expect(told(`${one("    volumes: ['v:/v']\n")}volumes: { v: { driver: nfs } }\n`)).toHaveLength(1);
});

/** Each of them is refused by `docker compose config` 2.40.3, too, except the mode. */
test.each([
  ["cpus: 1\n    deploy: { resources: { limits: { cpus: '2' } } }", "cpus: differs from deploy.resources.limits.cpus"],
  ["mem_limit: 64m\n    deploy: { resources: { limits: { cpus: '2' } } }", "mem_limit: differs from"],
  ["mem_reservation: 64m\n    deploy: { resources: { reservations: { memory: 32m } } }", "mem_reservation: differs from"],
  ["pids_limit: 5\n    deploy: { resources: { limits: { pids: 6 } } }", "pids_limit: differs from"],
  ["scale: 2\n    deploy: { replicas: 3 }", "scale: differs from deploy.replicas"],
  ["depends_on: { b: { condition: service_started, required: false } }", "depends_on/b: there is no service b"],
  ["depends_on: { web: {} }", "depends_on/web/condition: "],
  ["volumes: ['./a:/a:ro:z']", 'volumes/0: write a volume like "./data:/data:ro"'],
  ["secrets: [{ source: s, uid: 5 }]", 'secrets/0/uid: write it in quotes, as in "1000"'],
  ["secrets: [{ source: s, mode: '04440' }]", "secrets/0/mode: has more than the bits of reading"],
  ["ports: [{ target: 80, host_ip: '' }]", "ports/0/host_ip: is no IP address"],
  ["container_name: a", "container_name: use at least two of"],
  ["devices: [{ source: /dev/a }]", "devices/0/target: "],
  ["volumes: [{ type: tmpfs, target: /t, tmpfs: { mode: '0700' } }]", "volumes/0/tmpfs/mode: write a number without quotes"],
  ["blkio_config: { weight: '300' }", "blkio_config/weight: write a number without quotes"],
  ["build: { context: ., ulimits: { nofile: '5' } }", "build/ulimits/nofile: "],
  ["depends_on: [a, a]", "depends_on: has an entry twice"],
  ["security_opt: [label=disable, label=disable]", "security_opt: has an entry twice"],
  ["volumes_from: [a, a]", "volumes_from: has an entry twice"],
  ["device_cgroup_rules: ['c 1:3 r', 'c 1:3 r']", "device_cgroup_rules: has an entry twice"],
  ["extra_hosts: ['a:10.0.0.1', 'a:10.0.0.1']", "extra_hosts: has an entry twice"],
  ["gpus: [{ capabilities: [gpu, gpu] }]", "gpus/0/capabilities: has an entry twice"],
  ["environment: ['A =1']", "environment/0: has a space behind the name"],
])("what Compose refuses is refused: %s", (fields, why) => {
  expect(told(one(`    ${fields}\n`))).toEqual([expect.stringContaining(`/services/web/${why}`)]);
});

test("a text in base64 is that text", () => {
  expect(container("    working_dir: !!binary L3Nydg==\n").cwd).toBe("/srv");
});

test("a key that merges maps and is there twice is told of with what to write", () => {
  expect(told("x-a: &a { user: '5' }\nservices:\n  web:\n    <<: *a\n    <<: *a\n")).toEqual([
    expect.stringContaining('the key "<<" is there twice: write one with a list, as in <<: [*a, *b]'),
  ]);
});

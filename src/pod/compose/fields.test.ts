/** Fields that Compose accepts. Comments give the output of `docker compose config` 2.40.3 for the same inputs. */
import { expect, test } from "vitest";
import { container, one, only, read, told } from "../../../test/support/engine/compose-file.ts";

const warned = (text: string, options = {}) => read(text, options).warnings.map(({ pointer, message }) => `${pointer}: ${message}`);
const portsOf = (ports: string) => only(one(`    ports: ${ports}\n`)).network!.ports;

/** target 3000, no published; 9000 to 9002 each; host_ip 127.0.0.1 and target 8000; published 8000-8010; host_ip ::1; udp. */
test("ports: of the host's choice, ranges on both sides, a range for one port, addresses, udp and the long form", () => {
  const any = [49_152, 65_535];
  expect(portsOf('["3000"]')).toEqual([{ container: 3000, hostRange: any, protocol: "tcp" }]);
  expect(portsOf("[3000-3001]").map((port) => [port.container, port.hostRange])).toEqual([
    [3000, any],
    [3001, any],
  ]);
  expect(portsOf('["9000-9002:9000-9002"]').map(({ container: inner, host }) => [host, inner])).toEqual([
    [9000, 9000],
    [9001, 9001],
    [9002, 9002],
  ]);
  expect(portsOf('["127.0.0.1::8000"]')).toEqual([{ container: 8000, hostRange: any, protocol: "tcp", address: "127.0.0.1" }]);
  expect(portsOf('["8000-8010:80"]')).toEqual([{ container: 80, hostRange: [8000, 8010], protocol: "tcp" }]);
  expect(portsOf('["[::1]:80:80", "53:53/udp"]')).toEqual([
    { container: 80, host: 80, protocol: "tcp", address: "::1" },
    { container: 53, host: 53, protocol: "udp" },
  ]);
  expect(portsOf('["80:80", "80:80/tcp"]')).toHaveLength(1);
  const long = one("    ports: [{ target: 80, published: 8080-8090, app_protocol: http, name: web, mode: host }]\n");
  expect(only(long).network!.ports).toEqual([{ container: 80, hostRange: [8080, 8090], protocol: "tcp" }]);
  expect(warned(long)).toEqual(["/services/web/ports/0/app_protocol: has no effect: bytes are passed on as they are"]);
});

test("capabilities in any case, with and without CAP_, and all of them", () => {
  expect(container("    cap_add: [net_admin, Cap_Sys_Time]\n    cap_drop: [all]\n").capabilities).toEqual({
    add: ["CAP_NET_ADMIN", "CAP_SYS_TIME"],
    drop: ["ALL"],
  });
  expect(container("    cap_add: [ALL]\n").capabilities!.add.length).toBeGreaterThan(30);
});

test("limits of processes, of /dev/shm, of CPUs; 0 is none", () => {
  const fields = `    ulimits: { nofile: 100, nproc: { soft: 1, hard: -1 } }
    shm_size: 1gb
    cpuset: 0,1
    cpu_shares: 512
    cpu_quota: 50000
    oom_score_adj: -500
    mem_limit: 1.5GiB
    memswap_limit: 1536m
    oom_kill_disable: false
`;
  expect(container(fields)).toMatchObject({
    rlimits: { nofile: { soft: 100, hard: 100 }, nproc: { soft: 1, hard: "unlimited" } },
    shmSize: 2 ** 30,
    cpuset: "0,1",
    cpuShares: 512,
    cpus: 0.5,
    oomScoreAdj: -500,
    memory: 1_610_612_736,
  });
});

/** memswap_limit limits memory and swap together; group_add, domainname, start_interval and propagation are printed unchanged. */
test("swap, groups by name, the NIS domain, the interval at the start, and mounts that are passed on", () => {
  const fields = `    memswap_limit: 2g
    mem_limit: 1g
    group_add: [5, "6", video]
    domainname: example.test
    healthcheck: { test: [CMD, x], start_period: 1m, start_interval: 2s }
    volumes: ["/mnt:/a:rslave", { type: bind, source: /mnt, target: /b, bind: { propagation: rshared } }, "/mnt:/c:ro"]
`;
  expect(container(fields)).toMatchObject({
    memory: 2 ** 30,
    memorySwap: 2 ** 31,
    groups: [5, 6, "video"],
    domainname: "example.test",
    healthCheck: { startPeriod: 60_000, startInterval: 2000 },
    mounts: [{ propagation: "rslave" }, { propagation: "rshared" }, { target: "/c" }],
  });
  expect(container("    mem_limit: 1g\n    memswap_limit: -1\n").memorySwap).toBe("unlimited");
  expect(container("    mem_limit: 1g\n    memswap_limit: 1g\n")).not.toHaveProperty("memorySwap");
});

test("an empty text says nothing, and what is of Windows or of cgroup v1 has no effect, with a line that says so", () => {
  const fields = '    user: ""\n    network_mode: ""\n    pid: ""\n    dns: ""\n    restart: ""\n    hostname: $NOT_SET\n';
  expect(container(fields)).toEqual(container(""));
  const windows =
    "    cpu_count: 2\n    cpu_percent: 50\n    mem_swappiness: 10\n    oom_kill_disable: true\n    pull_refresh_after: 24h\n";
  expect(container(windows)).toEqual(container(""));
  expect(
    warned(one(windows))
      .map((line) => line.split(":")[0]!.slice(14))
      .sort(),
  ).toEqual(["cpu_count", "cpu_percent", "mem_swappiness", "oom_kill_disable", "pull_refresh_after"].sort());
});

/** Each of them is refused by `docker compose config`, too. */
test.each([
  ["deploy: { placement: somewhere }", "deploy/placement"],
  ["deploy: { labels: 5 }", "deploy/labels"],
  ["deploy: { update_config: { delay: soon } }", "deploy/update_config/delay"],
  ["deploy: { rollback_config: { order: any } }", "deploy/rollback_config/order"],
  ["deploy: { resources: { limits: { memory: 5 } } }", "deploy/resources/limits/memory"],
  ["develop: { watch: [{ path: a, action: restart, exec: { user: x } }] }", "develop/watch/0/exec/command"],
  ["gpus: [{ device_ids: [a, a] }]", "gpus/0/device_ids"],
  ["build: { ssh: [key] }", "build/ssh"],
  ["build: { additional_contexts: [base] }", "build/additional_contexts"],
  ["attach: maybe", "attach"],
  ["build: { cache_from: a }", "build/cache_from"],
  ["build: { provenance: 5 }", "build/provenance"],
  ["build: { no_cache_filter: app }", "build/no_cache_filter"],
  ["healthcheck: { test: [curl] }", "healthcheck/test"],
  ["logging: { options: { a: true } }", "logging/options/a"],
  ["volumes: [{ type: bind, source: /a, target: /b, bind: { selinux: x } }]", "volumes/0/bind/selinux"],
])("what has no effect has to be right: %s", (field, pointer) => {
  expect(told(one(`    ${field}\n`))).toEqual([expect.stringContaining(`/services/web/${pointer}: `)]);
});

test("options of a driver are a map, also when there are none", () => {
  const network = (fields: string) => told(`${one("")}networks: { default: { ${fields} } }\n`);
  expect(network("ipam: { options: {} }")).toEqual([]);
  expect(network("ipam: { options: [] }")).toEqual([expect.stringContaining("/networks/default/ipam/options: ")]);
  expect(network("driver_opts: []")).toEqual([expect.stringContaining("/networks/default/driver_opts: ")]);
});

test("security_opt in both forms", () => {
  expect(container("    security_opt: [no-new-privileges, 'seccomp:unconfined', 'label:disable', apparmor=unconfined]\n")).toMatchObject({
    noNewPrivileges: true,
    seccomp: "unconfined",
  });
  expect(container("    security_opt: ['no-new-privileges:false']\n").noNewPrivileges).toBe(false);
  expect(container("    security_opt: [systempaths=unconfined]\n")).toMatchObject({ unmasked: true });
  const files = "    security_opt: ['seccomp:./filter.json', apparmor=mine, 'label=type:svirt_t', seccomp=builtin]\n";
  expect(container(files)).toMatchObject({ seccomp: "/srv/app/filter.json", apparmor: "mine" });
  expect(warned(one(files))).toEqual([expect.stringContaining("/services/web/security_opt/2: has no effect, as with Docker")]);
});

/** init: the program is not process 1. ipc shareable and uts host. */
test("namespaces: an init, ipc, uts", () => {
  expect(only(one("    init: true\n    ipc: shareable\n    uts: host\n")).namespaces).toMatchObject({
    pid: "shared",
    ipc: "private",
    uts: "host",
  });
});

test("logging: the size of the files; other drivers' options are told of", () => {
  const text = one("    logging: { driver: json-file, options: { max-size: 10m, max-file: '5', tag: x } }\n");
  expect(only(text).containers[0]!.log).toEqual({ maxSize: 10 * 2 ** 20, maxFiles: 5 });
  expect(warned(text)).toEqual(["/services/web/logging/options/tag: has no effect: of a log only max-size and max-file are used"]);
  expect(container("    logging: { driver: journald }\n").log).toEqual({ driver: "journald" });
  expect(container("    logging: { driver: none }\n").log).toEqual({ driver: "none" });
});

/** rates in bytes, weight 300. */
test("blkio_config: what it says of a device in several lists is one, and 0 is none", () => {
  const fields = `    blkio_config:
      weight: 300
      weight_device: [{ path: /dev/sda, weight: 400 }]
      device_read_bps: [{ path: /dev/sda, rate: 1024k }, { path: /dev/sdb, rate: 0 }]
      device_write_iops: [{ path: /dev/sda, rate: 200 }]
`;
  const devices = [{ path: "/dev/sda", weight: 400, readBps: 2 ** 20, writeIops: 200 }];
  expect(container(fields).blockIo).toEqual({ weight: 300, devices });
  expect(container("    blkio_config: { weight: 0 }\n").blockIo).toBeUndefined();
  expect(told(one("    blkio_config: { weight: 5 }\n"))).toEqual([expect.stringContaining("/services/web/blkio_config: ")]);
});

/** tmpfs size "0"; both count and device_ids are refused. */
test("a directory in memory of size 0 is as large as the kernel makes it; count and device_ids exclude each other", () => {
  const text = one("    volumes: [{ type: tmpfs, target: /m, tmpfs: { size: 0 } }]\n");
  expect(only(text).volumes).toEqual([expect.objectContaining({ medium: "memory" })]);
  expect(only(text).volumes[0]).not.toHaveProperty("size");
  for (const where of ["gpus: [", "deploy: { resources: { reservations: { devices: ["])
    expect(told(one(`    ${where}{ capabilities: [gpu], count: 1, device_ids: ["0"] }]${where.includes("{") ? " } } }" : ""}\n`))).toEqual([
      expect.stringContaining("count and device_ids say the same in two ways: give one"),
    ]);
});

/** a=1.2.3.4, b=host-gateway, c=::1 */
test("extra_hosts in all forms", () => {
  expect(only(one('    extra_hosts: ["a:1.2.3.4", "b=host-gateway", "c:[::1]"]\n')).network!.hosts).toEqual([
    { name: "a", address: "1.2.3.4" },
    { name: "b", address: "host-gateway" },
    { name: "c", address: "::1" },
  ]);
  expect(only(one("    extra_hosts: { g: [1.1.1.1, '::1'] }\n")).network!.hosts).toHaveLength(2);
});

/** depends_on gets b with service_started and restart: true. */
test("links are dependencies, and names of the other service", () => {
  const { tasks, findings } = read(`${one("    links: ['db:store', db]\n")}  db: { x-runt-rootfs: /r, command: x }\n`);
  expect(findings).toEqual([]);
  expect(tasks[0]!.containers[0]!.dependsOn).toEqual([
    { container: "db/db", condition: "START", restart: true },
    { container: "db/db", condition: "START", restart: true },
  ]);
  expect(tasks[1]!.network).toMatchObject({ name: "default", aliases: ["store"] });
});

test("replicas are tasks with one name in the network; 0 is none", () => {
  const { tasks } = read(
    `${one("    deploy: { replicas: 2 }\n    ports: ['80']\n")}  user: { x-runt-rootfs: /r, command: x, depends_on: [web] }\n`,
  );
  expect(tasks.map(({ name, network }) => [name, network?.aliases])).toEqual([
    ["web", undefined],
    ["web-2", ["web"]],
    ["user", undefined],
  ]);
  expect(tasks[2]!.containers[0]!.dependsOn.map(({ container: name }) => name)).toEqual(["web/web", "web-2/web-2"]);
  expect(read(one("    scale: 0\n"))).toMatchObject({ tasks: [], findings: [] });
});

test("containers of deploy share the ports of the host that the file names; with scale, and where each asks for its own, they do not", () => {
  const ports = (fields: string) =>
    read(one(fields)).tasks.map(({ network }) => network!.ports.map(({ host, service }) => [host, service?.name]));
  expect(ports("    deploy: { replicas: 2 }\n    ports: ['8080:80', '81']\n")).toEqual(
    Array(2).fill([
      [8080, "web"],
      [undefined, undefined],
    ]),
  );
  for (const deploy of ["endpoint_mode: vip", "update_config: { order: start-first }"])
    expect(ports(`    deploy: { ${deploy} }\n    ports: ['8080:80']\n`)).toEqual([[[8080, "web"]]]);
  expect(ports("    deploy: { replicas: 1 }\n    ports: ['8080:80']\n")).toEqual([[[8080, undefined]]]);
  const why = (fields: string) => told(one(fields));
  const message = (by: string) =>
    expect.stringContaining(`8080 can be the port of one container, and the service has 2 by ${by}: write a range`);
  expect(why("    scale: 2\n    ports: ['8080:80']\n")).toEqual([message("scale")]);
  expect(why("    deploy: { replicas: 2, endpoint_mode: dnsrr }\n    ports: ['8080:80']\n")).toEqual([message("endpoint_mode: dnsrr")]);
  expect(why("    deploy: { replicas: 2 }\n    ports: [{ target: 80, published: 8080, mode: host }]\n")).toEqual([message("mode: host")]);
  expect(why("    deploy: { replicas: 2 }\n    ports: ['[::1]:8080:80']\n")).toEqual([expect.stringContaining("needs an IPv4 address")]);
});

test("deploy: restart_policy and the order of an update", () => {
  const fields =
    "    deploy: { restart_policy: { condition: on-failure, max_attempts: 3, delay: 5s }, update_config: { order: start-first } }\n";
  expect(only(one(fields))).toMatchObject({
    update: { order: "start-first", parallelism: 1, onFailure: "pause" },
    replica: { of: "web", index: 1 },
    containers: [{ restart: { ignoredExitCodes: [0], maximumCount: 3, backoff: { initial: 5000 } } }],
  });
  expect(container("    deploy: { restart_policy: { condition: none } }\n    restart: always\n").restart).toBeUndefined();
});

test("hooks, volumes of another service, and dots in names", () => {
  const { tasks, findings } = read(`services:
  my.app:
    x-runt-rootfs: /r
    command: x
    container_name: my.app.1
    post_start: [{ command: echo hi }]
    volumes_from: ["db:ro"]
    volumes: ["own.data:/own"]
  db: { x-runt-rootfs: /r, command: x, volumes: ["data:/d", "./e:/e"] }
volumes: { data: { name: shared }, own.data: }
`);
  expect(findings).toEqual([]);
  expect(tasks[0]).toMatchObject({
    name: "my-app",
    volumes: [
      { name: "data", kept: "shared" },
      { name: "own-data", kept: "own-data" },
    ],
    network: { aliases: ["my.app", "my.app.1"] },
    containers: [{ name: "my.app.1", postStart: { command: ["echo", "hi"] } }],
  });
  expect(tasks[0]!.containers[0]!.mounts.map(({ target, readOnly }) => [target, readOnly])).toEqual([
    ["/d", true],
    ["/e", true],
    ["/own", false],
  ]);
});

test("files of secrets have owner and mode", () => {
  const text = `${one("    secrets: [{ source: t, uid: '1000', gid: '100', mode: 0400 }]\n")}secrets: { t: { file: ./token } }\n`;
  expect(only(text).volumes[0]!.files!["file-0"]).toMatchObject({ uid: 1000, gid: 100, mode: 0o400 });
});

test("~ is the home of the caller; directories that Compose makes are named", () => {
  const text = one("    volumes: ['~/x:/y', './z:/z:ro,z', { type: bind, source: ./kept, target: /k }]\n");
  const { tasks, directories } = read(text, { environment: { HOME: "/home/me" } });
  expect(tasks[0]!.containers[0]!.mounts.map(({ source }) => source)).toEqual(["/home/me/x", "/srv/app/z", "/srv/app/kept"]);
  expect(directories).toEqual(["/home/me/x", "/srv/app/z"]);
});

test("what has no effect is told of by name, and an unset variable once", () => {
  const text = `version: "3"\n${one("    develop: { watch: [] }\n    environment: { A: $NONE, B: $NONE }\n    deploy: { placement: {} }\n")}`;
  expect(warned(text).map((line) => line.split(":")[0])).toEqual([
    "/services/web/environment/A",
    "/version",
    "/services/web/develop",
    "/services/web/deploy/placement",
  ]);
  expect(warned("services: { web: { x-runt-rootfs: /r, build: . } }\n")).toEqual([
    "/services/web/build: has no effect beside x-runt-rootfs",
  ]);
});

test("no services, and none that is switched on, are no fault", () => {
  expect(read("services: {}\n")).toMatchObject({ findings: [], inputs: [] });
  expect(read("services: { web: { image: a.b/c, profiles: [x] } }\n")).toMatchObject({ findings: [], inputs: [] });
});

test.each([
  ["    volumes: [{ type: bind, target: /d }]\n", "/services/web/volumes/0: names no source"],
  ["    develop: { watch: [{ path: ./src }] }\n", "/services/web/develop/watch/0/action: "],
  ["    environment: { 1: a }\n", 'a key is a text: write "1" in quotes'],
  ["  5: { x-runt-rootfs: /r, command: x }\n", 'a key is a text: write "5" in quotes'],
])("%j, which Compose refuses, is refused", (fields, message) => {
  expect(told(one(fields))).toEqual([expect.stringContaining(message)]);
});

test("deploy.restart_policy takes the words of restart, too", () => {
  const of = (condition: string) => only(one(`    deploy: { restart_policy: { condition: ${condition} } }\n`));
  expect(of("unless-stopped")).toMatchObject({ start: "always", containers: [{ restart: { ignoredExitCodes: [] } }] });
  expect(of("always")).toMatchObject({ start: "always" });
  expect(of('"no"').containers[0]).not.toHaveProperty("restart");
});

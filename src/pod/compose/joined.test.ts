import { expect, test } from "vitest";
import { one, read, told } from "../../../test/support/engine/compose-file.ts";

const OWNER = "  vpn: { x-runt-rootfs: /r, command: tunnel, container_name: gate, ports: ['80:80'], volumes: ['d:/d'] }\n";
const joined = (fields: string, others = "") => `${one(fields)}${OWNER}${others}volumes: { d: }\n`;

test.each(["service:vpn", "container:gate"])("network_mode %s makes a service a container of the other's task", (mode) => {
  const others = "  last: { x-runt-rootfs: /r, command: x, depends_on: [web] }\n";
  const { tasks, findings } = read(joined(`    network_mode: ${mode}\n    volumes: ['d:/data', /scratch]\n    restart: always\n`, others));
  expect(findings).toEqual([]);
  expect(tasks.map(({ name, containers }) => [name, ...containers.map((container) => container.name)])).toEqual([
    ["vpn", "gate", "web"],
    ["last", "last"],
  ]);
  const [vpn, last] = tasks;
  expect(vpn).toMatchObject({ network: { name: "default", ports: [{ host: 80 }] }, ends: "all", start: "always" });
  expect(vpn!.namespaces).toEqual({ pid: "private", ipc: "private", network: "private", uts: "private" });
  expect(vpn!.volumes).toEqual([
    { name: "d", kept: "d" },
    { name: "web-volume-0", kept: "d" },
    expect.objectContaining({ name: "web-volume-1" }),
  ]);
  expect(vpn!.containers[1]).toMatchObject({
    dependsOn: [{ container: "gate", condition: "START" }],
    mounts: [
      { volume: "web-volume-0", target: "/data" },
      { volume: "web-volume-1", target: "/scratch" },
    ],
  });
  expect(last!.containers[0]!.dependsOn).toEqual([{ container: "vpn/web", condition: "START" }]);
});

test("a chain of them is one task, and what a service waits for is named within it", () => {
  const { tasks, findings } = read(
    joined(
      "    network_mode: service:between\n    depends_on: { vpn: { condition: service_completed_successfully } }\n",
      "  between: { x-runt-rootfs: /r, command: x, network_mode: 'service:vpn' }\n",
    ),
  );
  expect(findings).toEqual([]);
  expect(tasks).toHaveLength(1);
  expect(tasks[0]!.containers.find(({ name }) => name === "web")!.dependsOn).toEqual([{ container: "gate", condition: "SUCCESS" }]);
});

test("pid and ipc are shared by all containers of the task, or by none", () => {
  const mode = "    network_mode: service:vpn\n    pid: service:vpn\n    ipc: container:gate\n";
  expect(read(joined(mode)).tasks[0]!.namespaces).toMatchObject({ pid: "shared", ipc: "shared", network: "private" });
  const third = "  third: { x-runt-rootfs: /r, command: x, network_mode: 'service:vpn' }\n";
  expect(told(joined(mode, third))).toEqual([
    "f:6:5: /services/web/pid: has to be the same in all services that share the network of vpn",
    "f:7:5: /services/web/ipc: has to be the same in all services that share the network of vpn",
    "f:9:3: /services/third/pid: has to be the same in all services that share the network of vpn",
    "f:9:3: /services/third/ipc: has to be the same in all services that share the network of vpn",
  ]);
});

test("without a network of the engine the containers share that of the task", () => {
  const text = `${one("    network_mode: none\n")}  other: { x-runt-rootfs: /r, command: x, network_mode: 'service:web' }\n`;
  expect(read(text).tasks.map(({ namespaces, network }) => [namespaces.network, network])).toEqual([["shared", undefined]]);
});

test.each([
  ["network_mode: service:vpn\n    ports: ['81:81']", "ports", "belongs to vpn, whose network the service is in"],
  ["network_mode: service:vpn\n    hostname: x", "hostname", "belongs to vpn"],
  ["network_mode: service:vpn\n    sysctls: { net.core.somaxconn: 1 }", "sysctls", "belongs to vpn"],
  ["network_mode: service:vpn\n    runtime: x", "runtime", "has to be that of vpn"],
  ["network_mode: service:vpn\n    cgroup_parent: web", "cgroup_parent", "has to be that of vpn"],
  ["network_mode: service:vpn\n    networks: [default]", "networks", "there are no networks"],
  ["network_mode: service:nobody", "network_mode", "there is no service nobody"],
  ["network_mode: service:web", "network_mode", "leads back to the service itself"],
  ["network_mode: container:others", "network_mode", "no service has the container others"],
  ["network_mode: service:off", "network_mode", "the service off is not switched on"],
  ["network_mode: service:many", "network_mode", "many has several containers"],
  ["network_mode: 'pasta:-T'", "network_mode", "the name of a network, service:NAME and container:NAME"],
  ["ipc: container:others", "ipc", "no service has the container others"],
])("%s is refused by name", (fields, pointer, message) => {
  const others = `  off: { x-runt-rootfs: /r, command: x, profiles: [p] }\n  many: { x-runt-rootfs: /r, command: x, scale: 2 }\n`;
  const { findings } = read(joined(`    ${fields}\n`, others));
  expect(findings.map((finding) => finding.pointer)).toEqual([`/services/web/${pointer}`]);
  expect(findings[0]!.message).toContain(message);
});

/** The same file as Compose prints it: init of db alone. */
test("where one of two services that share a network has init, both share what reaps, which is told of", () => {
  const text = (db: string, web: string) =>
    `services:\n  db: { x-runt-rootfs: /r, command: x${db} }\n  web: { x-runt-rootfs: /r, command: x, network_mode: service:db${web} }\n`;
  for (const [db, web] of [
    [", init: true", ""],
    ["", ", init: true"],
    [", init: true", ", init: false"],
  ]) {
    const { tasks, findings, warnings } = read(text(db!, web!));
    expect([findings, tasks.map(({ namespaces }) => namespaces.pid)]).toEqual([[], ["shared"]]);
    expect(warnings.map(({ pointer, message }) => `${pointer}: ${message}`)).toEqual([
      "/services/web: its processes and those of db see each other, because one of both has init",
    ]);
  }
  for (const [db, web, pid] of [
    ["", ", init: false", "private"],
    [", init: true", ", init: true", "shared"],
  ]) {
    const { tasks, warnings } = read(text(db!, web!));
    expect([warnings, tasks.map(({ namespaces }) => namespaces.pid)]).toEqual([[], [pid]]);
  }
});

/** Compose specification, "volumes_from". */
test("volumes_from takes the container of a service by its name, and no other container", () => {
  const from = (name: string) => read(joined(`    volumes_from: ['container:${name}:ro']\n`));
  const { tasks, findings } = from("gate");
  expect(findings).toEqual([]);
  const web = tasks.find(({ name }) => name === "web")!;
  expect(web.containers[0]).toMatchObject({
    mounts: [{ volume: "d", target: "/d", readOnly: true }],
    dependsOn: [{ container: "vpn/gate" }],
  });
  expect(from("stranger").findings.map(({ pointer, message }) => `${pointer}: ${message}`)).toEqual([
    expect.stringMatching(/^\/services\/web\/volumes_from\/0: .*name a service$/),
  ]);
});

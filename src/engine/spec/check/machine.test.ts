import { expect, test } from "vitest";
import { readDocuments, renderFinding, tasksIn } from "../index.ts";

const CANNOT = "a task in a virtual machine cannot have";

const told = (task: object, container: object = {}, further: readonly object[] = []) => {
  const text = JSON.stringify({
    name: "t",
    runtime: "vm",
    ...task,
    containers: [{ name: "c", rootfs: "/r", command: "x", ...container }, ...further],
  });
  return tasksIn(readDocuments(text, "task"), ["vm"]).findings.map((one) => renderFinding(one, "f").replace(/^f:\d+:\d+: /, ""));
};

test("E31: what is on the other side of the host's kernel is refused by name", () => {
  expect(told({})).toEqual([]);
  expect(told({ runtime: "other", pids: 5 }, { privileged: true })).toEqual([]);
  expect(told({ pids: 5 })).toEqual([`/pids: ${CANNOT} a limit of processes for all containers together`]);
  expect(told({}, { privileged: true })[0]).toContain(`/containers/0/privileged: ${CANNOT} a privileged container`);
  expect(told({}, { logRouter: true })[0]).toContain(`/containers/0/logRouter: ${CANNOT} a log router`);
  expect(told({ start: "needed" })[0]).toContain(`/start: ${CANNOT} the socket of a shared proxy`);
  expect(told({ sharedProxy: "mesh" })[0]).toContain(`/sharedProxy: ${CANNOT} a shared proxy`);
  const image = { rootfs: undefined, image: "oci:/i" };
  expect(told({ privateUsers: true }, image)[0]).toContain(`/privateUsers: ${CANNOT} users of its own`);
  const volumes = (hostType: string) => ({ volumes: [{ name: "v", host: "/h", hostType }] });
  expect(told(volumes("Directory"))).toEqual([]);
  for (const type of ["Socket", "CharDevice", "BlockDevice"])
    expect(told(volumes(type))).toEqual([`/volumes/0/hostType: ${CANNOT} a ${type} of the host as a volume`]);
});

test("E31: volumes in memory are the host's, and small", () => {
  const volumes = (...sizes: readonly (string | undefined)[]) => ({
    volumes: sizes.map((size, index) => ({ name: `v${index}`, medium: "memory", ...(size === undefined ? {} : { size }) })),
  });
  expect(told(volumes("32Mi", "32Mi"))).toEqual([]);
  expect(told(volumes("32Mi", "33Mi"))[1]).toBe(
    `/volumes/1/medium: ${CANNOT} volumes in memory of more than 64Mi together: they are the host's`,
  );
  expect(told(volumes(undefined))).toHaveLength(1);
});

test("E31: namespaces of the host are refused, and that of the network by one finding", () => {
  for (const type of ["pid", "ipc", "network", "uts"]) {
    expect(told({ namespaces: { [type]: "host" } })).toEqual([`/namespaces/${type}: ${CANNOT} the ${type} namespace of the host`]);
  }
  expect(told({ namespaces: { network: "host", uts: "host" } })).toHaveLength(1);
  expect(told({ network: { mode: "host" } })).toEqual([`/namespaces/network: ${CANNOT} the network namespace of the host`]);
});

test("E31: a task has one machine, whose containers share the network", () => {
  const other = { name: "d", rootfs: "/r", command: "x" };
  expect(told({ namespaces: { network: "shared", ipc: "shared" } }, {}, [other])).toEqual([]);
  expect(told({ namespaces: { ipc: "shared" }, network: {} }, {}, [other])).toEqual([]);
  expect(told({}, {}, [other])[0]).toContain(`/namespaces: ${CANNOT} several containers that share nothing`);
  expect(told({ network: {} }, {}, [other])[0]).toContain(`/namespaces: ${CANNOT} several containers that share nothing`);
  expect(told({ namespaces: { ipc: "shared" } }, {}, [other])[0]).toContain(`/namespaces: ${CANNOT} shared namespaces without`);
});

test("E31: a network is one behind a bridge, whose rules hold for the machine", () => {
  expect(told({ network: { ports: [{ container: 80 }] } })).toEqual([]);
  const isolated = { mode: "isolated", interfaces: [{ parent: "eth1", addresses: ["192.0.2.1/24"] }] };
  expect(told({ network: isolated })[0]).toContain(`/network/mode: ${CANNOT} interfaces of its own on the host`);
  const proxy = { user: 1337, egress: { port: 15001 } };
  expect(told({ network: { proxy } })[0]).toContain(`/network/proxy: ${CANNOT} a proxy`);
});

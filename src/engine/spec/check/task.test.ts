import { expect, test } from "vitest";
import { parseTasks, renderFinding } from "../index.ts";

const told = (task: object, container: object = {}) =>
  parseTasks(
    JSON.stringify({ name: "t", privateUsers: true, ...task, containers: [{ name: "c", image: "oci:/i", ...container }] }),
  ).findings.map((one) => renderFinding(one, "f").replace(/^f:\d+:\d+: /, ""));

test("what belongs to the host is refused beside users of its own", () => {
  expect(told({})).toEqual([]);
  expect(told({ namespaces: { pid: "host" } })).toEqual(["/namespaces/pid: with privateUsers a task has no namespace of the host"]);
  expect(told({ network: { mode: "host" } })).toEqual(["/namespaces/network: with privateUsers a task has no namespace of the host"]);
  expect(told({}, { privileged: true })[0]).toContain("/containers/0/privileged: with privateUsers it cannot be privileged");
  const rootfs = told({}, { image: undefined, rootfs: "/r", command: "x" });
  expect(rootfs).toEqual([
    "/containers/0/rootfs: with privateUsers it needs an image: the files of a directory belong to users of the host",
  ]);
  expect(told({}, { image: undefined, bundle: "/b" })).toEqual(["/containers/0/bundle: with privateUsers it needs an image"]);
});

test("devices of the host, swap and the NIS domain are refused where they cannot be had", () => {
  const plain = { privateUsers: undefined };
  const devices = { devices: [{ source: "/dev/fuse" }], cdi: ["acme.com/gpu=0"] };
  expect(told(plain, devices)).toEqual([]);
  expect(told({}, devices)).toEqual([
    "/containers/0/devices: with privateUsers it has no devices of the host",
    "/containers/0/cdi: with privateUsers it has no devices of the host",
  ]);
  const within = { ...plain, hostPaths: ["/srv"], volumes: [{ name: "v", host: "/srv" }] };
  expect(told(within, { ...devices, mounts: [{ volume: "v", target: "/v", propagation: "rslave" }] })).toEqual([
    "/containers/0/devices: with hostPaths it cannot have devices of the host",
    "/containers/0/cdi: with hostPaths it cannot have devices of the host",
    "/containers/0/mounts/0/propagation: with hostPaths mounts are not passed on",
  ]);
  expect(told({ ...plain, namespaces: { uts: "host" } }, { domainname: "d" })).toEqual([
    "/containers/0/domainname: a domainname needs a private uts namespace, and the task's is host",
  ]);
  expect(told(plain, { memorySwap: "1Gi" })).toEqual(["/containers/0/memorySwap: needs memory, too"]);
  expect(told(plain, { memory: "2Gi", memorySwap: "1Gi" })).toEqual([
    "/containers/0/memorySwap: is that of memory and swap together, and less than memory",
  ]);
  expect(told({ ...plain, volumes: [{ name: "v" }] }, { mounts: [{ volume: "v", target: "/v", propagation: "rslave" }] })).toEqual([
    "/containers/0/mounts/0/propagation: is of files and directories of the host",
  ]);
});

test("an id that the range does not have is refused wherever it is written", () => {
  const wrong = "with privateUsers ids are below 65536";
  expect(told({}, { user: "65535:65535", groups: [65_535] })).toEqual([]);
  expect(told({}, { user: "0:65536" })).toEqual([`/containers/0/user: ${wrong}`]);
  expect(told({}, { user: "web", groups: [1, 65_536] })).toEqual([`/containers/0/groups/1: ${wrong}`]);
  expect(told({ volumes: [{ name: "v", group: 70_000 }] })).toEqual([`/volumes/0/group: ${wrong}`]);
  const secrets = { secrets: [{ secret: "s", target: "/s", uid: 70_000 }] };
  expect(told({ secrets: [{ name: "s", file: "/f" }] }, secrets)).toEqual([`/containers/0/secrets/0/uid: ${wrong}`]);
});

test("a task can be unmasked without users of its own, unless it is confined, and false is no value", () => {
  expect(told({ privateUsers: undefined }, { unmasked: true })).toEqual([]);
  expect(told({ privateUsers: undefined, hostPaths: [] }, { unmasked: true })).toEqual([
    "/containers/0/unmasked: with hostPaths it needs privateUsers of the task",
  ]);
  expect(told({}, { unmasked: true })).toEqual([]);
  expect(told({ privateUsers: false })).toHaveLength(1);
});

test("the address of a task is a variable where the engine makes a network, and room on the disk is measured with an image only", () => {
  const network = { network: { mode: "bridge" } };
  expect(told(network, { addressEnv: ["IP"] })).toEqual([]);
  expect(told({}, { addressEnv: ["IP"] })).toEqual([
    "/containers/0/addressEnv: the engine makes no network for the task: it has no address",
  ]);
  expect(told(network, { addressEnv: ["IP"], env: { IP: "x" } })).toEqual([
    "/containers/0/addressEnv/0: something else is the variable IP, too",
  ]);
  const rootfs = told({ privateUsers: undefined }, { image: undefined, rootfs: "/r", command: "x", storage: 1 });
  expect(rootfs).toEqual([expect.stringContaining("/containers/0/storage: needs an image")]);
});

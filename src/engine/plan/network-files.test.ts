import { expect, test } from "vitest";
import { taskSchema } from "../spec/index.ts";
import { fileContents, resolvMounts, resolvText, serversOf } from "./network-files.ts";

const HOST =
  "# by hand\nnameserver 127.0.0.53\nnameserver 192.0.2.9\nsearch a.example b.example\noptions ndots:1 timeout:2\noptions rotate\n";
const dns = (fields: object) => taskSchema.parse({ name: "t", containers: [{ name: "a", rootfs: "/r", command: "x" }], dns: fields }).dns!;

/** Source: Kubernetes, PodDNSConfig: appended, without duplicates; options override those of the base. */
test("P4 what the host says with what the task adds: servers and domains behind, each once, and an option of the task in the place of the host's", () => {
  const more = { inherit: true, servers: ["192.0.2.9", "192.0.2.53"], search: ["b.example", "c.example"], options: ["ndots:3", "edns0"] };
  expect(resolvText(dns(more), HOST, true)).toBe(
    "nameserver 127.0.0.53\nnameserver 192.0.2.9\nnameserver 192.0.2.53\nsearch a.example b.example c.example\noptions ndots:3 timeout:2 rotate edns0\n",
  );
  expect(resolvText(dns(more), HOST, false)).toContain("nameserver 192.0.2.9\nnameserver 192.0.2.53\nsearch");
  expect(resolvText(dns(more), HOST, false)).not.toContain("127.0.0.53");
  expect(resolvText(dns({ inherit: true }), "domain one.example\nsearch two.example\n", true)).toBe("search two.example\n");
  const others = dns({ inherit: ["servers", "options"], search: ["b.example"] });
  expect(resolvText(others, HOST, true)).toBe(
    resolvText(dns({ inherit: true }), HOST, true).replace("search a.example b.example", "search b.example"),
  );
  expect(resolvText(dns({ inherit: ["servers"] }), HOST, true)).toBe("nameserver 127.0.0.53\nnameserver 192.0.2.9\n");
  expect(serversOf(dns({ inherit: ["search"], servers: ["192.0.2.1"] }), HOST)).toEqual(["192.0.2.1"]);
  expect(resolvText(dns({ servers: ["192.0.2.1"] }), HOST, true)).toBe("nameserver 192.0.2.1\n");
});

test("P4 the file is mounted where the task has no network of its own, and where nothing else is mounted", () => {
  const task = (fields: object, container: object = {}) =>
    taskSchema.parse({ name: "t", containers: [{ name: "a", rootfs: "/r", command: "x", ...container }], ...fields });
  const mounts = (one: ReturnType<typeof task>, config?: object) =>
    resolvMounts("/state/resolv.conf", one.containers[0]!, config as never).map(({ destination, source }) => [destination, source]);
  expect(mounts(task({ dns: {} }))).toEqual([["/etc/resolv.conf", "/state/resolv.conf"]]);
  expect(mounts(task({ dns: {} }, { mounts: [{ source: "/x", target: "/etc/resolv.conf" }] }))).toEqual([]);
  expect(mounts(task({ dns: {} }), { mounts: [{ destination: "/etc/resolv.conf" }] })).toEqual([]);
  expect(resolvMounts(undefined, task({}).containers[0]!, undefined)).toEqual([]);
});

test("with a resolver resolv.conf names it alone, and asks for a name as it is before it is asked for in the domains", () => {
  const text = (fields: object | undefined) =>
    fileContents({ names: ["t"], addresses: [], dns: fields && dns(fields), hostResolv: HOST, resolves: true })["resolv.conf"];
  expect(text(undefined)).toBe("nameserver 127.0.0.11\nsearch a.example b.example\noptions ndots:0 timeout:2 rotate\n");
  expect(text({ servers: ["192.0.2.1"], search: ["c.example"], options: ["ndots:4"] })).toBe(
    "nameserver 127.0.0.11\nsearch c.example\noptions ndots:4\n",
  );
  expect(serversOf(undefined, HOST)).toEqual([]);
  expect(serversOf(dns({ search: ["c.example"] }), HOST)).toEqual([]);
  expect(serversOf(dns({ servers: ["192.0.2.1"] }), HOST)).toEqual(["192.0.2.1"]);
  expect(serversOf(dns({ inherit: true, servers: ["192.0.2.9", "192.0.2.1"] }), HOST)).toEqual(["127.0.0.53", "192.0.2.9", "192.0.2.1"]);
});

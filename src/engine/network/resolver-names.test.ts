import { expect, test } from "vitest";
import { networkPlan } from "../plan/index.ts";
import { taskSchema } from "../spec/index.ts";
import type { Attachment } from "./attachments.ts";
import { mayResolve, type NamedService, resolverFiles } from "./resolver-names.ts";

const NETWORKS = {
  back: { name: "runtd-k-g.back", bridge: "rt-1", subnet: "10.64.0.0/20" },
  front: { name: "runtd-k-g.front", bridge: "rt-2", subnet: "172.20.0.0/16", gateway: "172.20.9.9" },
};
const spec = (network: object) => taskSchema.parse({ name: "t", network, containers: [{ name: "c", rootfs: "/r", command: "x" }] });

function attached(containerId: string, network: object, addresses: readonly string[][], resolves = true) {
  const parsed = spec(network).network!;
  const [bridged, ...further] = [parsed, ...(parsed.further ?? [])].map(({ name }) => NETWORKS[name as keyof typeof NETWORKS]);
  const { steps } = networkPlan(spec(network), { bridged: bridged!, further, leases: "/leases", resolves });
  const results = addresses.map((ips) => ({ cniVersion: "1.0.0", ips: ips.map((address) => ({ address })) }));
  const attachment = { containerId, bootId: "", namespace: "/n", steps, results, resolves } as unknown as Attachment;
  return { attachment, task: { id: containerId, name: containerId.split(".")[1]!, network: parsed } };
}

const filesOf = (all: readonly ReturnType<typeof attached>[], services: readonly NamedService[] = []) =>
  Object.fromEntries(
    resolverFiles(
      all.map(({ attachment }) => attachment),
      { tasks: all.map(({ task }) => task), services },
      "nameserver 127.0.0.53\n",
    ),
  );

test("one file for each network, with the address of the host in it, and the tasks by all of their names, the newest first", () => {
  const files = filesOf([
    attached("g.web", { name: "back", aliases: ["WWW", "web"], further: [{ name: "front", aliases: ["edge.shop."] }] }, [
      ["10.64.0.2/20", "fd00::2/64"],
      ["172.20.0.2/16"],
    ]),
    attached("g.db", { name: "back", dns: { servers: ["192.0.2.53"] } }, [["10.64.0.3/20"]]),
    attached("g.more", { name: "back", dns: { inherit: true, servers: ["192.0.2.53"] } }, [["10.64.0.4/20"]]),
  ]);
  expect(files).toEqual({
    "runtd-k-g.back":
      "10.64.0.1\ng.more 10.64.0.4  more 127.0.0.53,192.0.2.53\ng.db 10.64.0.3  db 192.0.2.53\ng.web 10.64.0.2 fd00::2 web,www\n",
    "runtd-k-g.front": "172.20.9.9\ng.web 172.20.0.2  web,edge.shop\n",
  });
});

test("a name with a character that means something in the file is left out, and the file stays whole", () => {
  const odd = attached("g.web", { name: "back", aliases: ["good"] }, [["10.64.0.2/20"]]);
  const names = ["a,b", "a b", "a\n10.9.9.9", "", "-a", "a.", "ok.example", "..", "x".repeat(300)];
  const files = filesOf([{ ...odd, task: { ...odd.task, network: { ...odd.task.network, aliases: names } } }]);
  expect(files["runtd-k-g.back"]).toBe("10.64.0.1\ng.web 10.64.0.2  web,a,ok.example\n");
});

test("a service with an address is found in the network of its parts", () => {
  const part = attached("g.web", { name: "back" }, [["10.64.0.2/20"]]);
  const service = { names: ["API", "api.default.svc", "b c"], address: "198.18.0.9", members: ["gone", "g.web"] };
  const lines = "10.64.0.1\nservice-api 198.18.0.9  api,api.default.svc\ng.web 10.64.0.2  web 127.0.0.53\n";
  expect(filesOf([part], [service, { ...service, members: ["gone"] }])["runtd-k-g.back"]).toBe(lines.replace(" 127.0.0.53", ""));
});

test("without a task that asks there is no file; one that does not ask is found by others", () => {
  const quiet = attached("g.db", { name: "back" }, [["10.64.0.3/20"]], false);
  expect(filesOf([quiet])).toEqual({});
  expect(filesOf([attached("g.web", { name: "back" }, [["10.64.0.2/20"]]), quiet])["runtd-k-g.back"]).toContain("\ng.db 10.64.0.3  db\n");
});

test("only a task that is in no other network has nobody to ask out of an internal one", () => {
  const files = filesOf([
    attached("g.in", { name: "back", internal: true }, [["10.64.0.2/20"]]),
    attached("g.both", { name: "front", further: [{ name: "back", internal: true }] }, [["172.20.0.2/16"], ["10.64.0.3/20"]]),
  ]);
  expect(files["runtd-k-g.back%int"]).toBe("10.64.0.1\ng.both 10.64.0.3  both\ng.in 10.64.0.2  in 127.255.255.255\n");
});

test("a name server on the loopback of the task is asked by the task itself", () => {
  const may = (network: object) => mayResolve(spec(network));
  expect(may({ name: "back" })).toBe(true);
  expect(may({ name: "back", dns: { servers: ["192.0.2.1", "127.0.0.1"] } })).toBe(false);
  expect(may({ name: "back", dns: { servers: ["::1"] } })).toBe(false);
  expect(may({})).toBe(false);
  expect(may({ mode: "none" })).toBe(false);
});

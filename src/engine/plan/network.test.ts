import { expect, test } from "vitest";
import { parseTasks, type TaskSpec, taskSchema } from "../spec/index.ts";
import { fileContents, hostsSaid, networkPlan, viaRoutes } from "./index.ts";

const PLACES = { bridged: { name: "runtd-k-default", bridge: "rt-1", subnet: "10.64.0.0/20" }, leases: "/leases" };
const task = (network: object): TaskSpec =>
  taskSchema.parse({ name: "t", network, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
const text = (network: object) => JSON.stringify({ name: "t", network, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
const said = (network: object) => parseTasks(text(network)).findings.map(({ pointer, message }) => `${pointer}: ${message}`);
const CLOUD = { parent: "eth7", addresses: ["10.9.0.5/24"], gateway: "10.9.0.1", mac: "02:00:00:00:00:05" };

test("T24: the interfaces in order, then the local bridge; T19: that one is always there", () => {
  const { steps } = networkPlan(task({ mode: "isolated", interfaces: [CLOUD, { parent: "eth8", addresses: ["10.8.0.5/24"] }] }), PLACES);
  expect(steps.map((one) => `${one.interface} ${one.plugins.map(({ type }) => type).join("+")}`)).toEqual([
    "eth0 macvlan+tuning",
    "eth1 macvlan",
    "eth2 bridge",
  ]);
  expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
});

test("E71: each further network of the group is an interface behind its own bridge, and only the first is the way out and has ports", () => {
  const further = [{ name: "runtd-k-g.admin", bridge: "rt-2", subnet: "10.64.16.0/20" }];
  const network = { name: "back", further: [{ name: "admin" }], ports: [{ container: 80 }] };
  const { steps } = networkPlan(task(network), { ...PLACES, further });
  expect(steps.map((one) => `${one.name} ${one.interface} ${one.plugins.map(({ type }) => type).join("+")}`)).toEqual([
    "runtd-k-default eth0 bridge",
    "runtd-k-g.admin eth1 bridge",
  ]);
  expect(steps.map(({ nat }) => nat)).toEqual([[{ host: 80, container: 80, protocol: "tcp", address: undefined }], []]);
  expect(steps[0]!.plugins[0]).toMatchObject({ bridge: "rt-1", ipam: { routes: [{ dst: "0.0.0.0/0" }] } });
  expect(steps[1]!.plugins[0]).toMatchObject({ bridge: "rt-2", ipam: { routes: [], ranges: [[{ subnet: "10.64.16.0/20" }]] } });
  expect(said({ further: [{ name: "admin" }], aliases: ["a"] })).toEqual([
    "/network/further: needs the name of a network",
    "/network/aliases: needs the name of a network",
  ]);
  expect(said({ name: "a", further: [{ name: "b" }, { name: "a" }] })).toEqual(["/network/further/1: the task is in a already"]);
});

test("E71: no way out leads by an internal network, and no port of the host to it", () => {
  const further = [{ name: "runtd-k-g.db", bridge: "rt-2", subnet: "10.64.16.0/20" }];
  const network = { name: "front", further: [{ name: "db", internal: true }], ports: [{ container: 80 }] };
  const { steps } = networkPlan(task(network), { ...PLACES, further });
  expect(steps.map(({ nat }) => nat)).toEqual([[{ host: 80, container: 80, protocol: "tcp", address: undefined }], undefined]);
  const [alone] = networkPlan(task({ name: "db", internal: true }), PLACES).steps;
  expect([alone!.nat, alone!.plugins[0]]).toMatchObject([undefined, { ipam: { routes: [] } }]);
  expect(said({ name: "db", internal: true, ports: [{ container: 80 }] })).toEqual([
    "/network/ports: no port of the host leads to an internal network: name another one first",
  ]);
  expect(said({ internal: true, shared: true })).toEqual([
    "/network/internal: needs the name of a network",
    "/network/shared: needs the name of a network",
  ]);
  // A network of a group and a host-wide network with the same name are different networks.
  expect(said({ name: "a", further: [{ name: "a", shared: true }] })).toEqual([]);
});

test("E71: a network has the addresses that are asked for, and a task the one that it names", () => {
  const further = [{ name: "runtd-k-g.b", bridge: "rt-2", subnet: "172.21.0.0/24", gateway: "172.21.0.254" }];
  const places = { ...PLACES, bridged: { ...PLACES.bridged, subnet: "172.20.0.0/16" }, further };
  const subnets = { name: "a", subnet: "172.20.0.0/16", range: "172.20.5.1/24", reserved: ["172.20.5.0", "172.20.5.9"] };
  const b = {
    name: "b",
    subnet: "172.21.0.0/24",
    gateway: "172.21.0.254",
    address: "172.21.0.7",
    reserved: ["172.21.0.7"],
    mac: "02:00:00:00:00:07",
  };
  const { steps } = networkPlan(task({ ...subnets, further: [b] }), places);
  const plugins = steps.map(({ plugins: [plugin] }) => plugin as { args?: object; ipam?: { ranges?: object } });
  expect(plugins.map(({ ipam }) => ipam!.ranges)).toEqual([
    [
      [
        { subnet: "172.20.0.0/16", rangeStart: "172.20.5.1", rangeEnd: "172.20.5.8" },
        { subnet: "172.20.0.0/16", rangeStart: "172.20.5.10", rangeEnd: "172.20.5.255" },
      ],
    ],
    [[{ subnet: "172.21.0.0/24", gateway: "172.21.0.254" }]],
  ]);
  expect(plugins.map(({ args }) => args)).toEqual([undefined, { cni: { ips: ["172.21.0.7"], mac: "02:00:00:00:00:07" } }]);
});

test.each([
  [{ subnet: "172.20.0.0/16" }, "subnet: needs the name of a network"],
  [{ name: "a", address: "172.20.0.9" }, "address: needs the subnet of the network"],
  [{ name: "a", subnet: "172.20.0.1/16" }, "subnet: is no network: write 172.20.0.0/16"],
  [{ name: "a", subnet: "172.20.0.0/31" }, "subnet: has a prefix from 1 to 30"],
  [{ name: "a", subnet: "172.20.0.0/16", address: "172.21.0.9" }, "address: 172.21.0.9 is not in 172.20.0.0/16"],
  [{ name: "a", subnet: "172.20.0.0/16", range: "172.16.0.0/12" }, "range: 172.16.0.0/12 is not in 172.20.0.0/16"],
  [{ name: "a", subnet: "172.20.0.0/16", gateway: "172.20.255.255" }, "gateway: 172.20.255.255 is of the whole network"],
  [{ name: "a", subnet: "172.20.0.0/16", address: "172.20.0.1" }, "address: 172.20.0.1 is that of the host"],
  [{ name: "a", subnet: "fd00::/64" }, "subnet: is no range of IPv4 like 172.20.0.0/16"],
])("E71: %o is refused", (network, message) => {
  expect(said(network)).toEqual([`/network/${message}`]);
});

test("E71: ports of the addresses of a task that lead to others of it, but not on loopback", () => {
  const { rules } = networkPlan(task({ redirects: [{ port: 80, to: 8080 }] }), PLACES);
  expect(rules).toEqual({ redirects: [{ port: 80, to: 8080, protocol: "tcp" }] });
  expect(said({ mode: "none", redirects: [{ port: 80, to: 8080 }] })).toEqual([
    "/network/redirects: redirected ports need the mode bridge, and the network's is none",
  ]);
  expect(
    said({
      redirects: [
        { port: 80, to: 81 },
        { port: 80, to: 82 },
      ],
    }),
  ).toEqual(["/network/redirects/1: 80/tcp is there twice"]);
});

test("services are of a network that only the group is in, and a task is a part of each once", () => {
  const services = [{ names: ["api", "api.a"] }];
  expect(said({ name: "back", services })).toEqual([]);
  expect(said({ services })).toEqual(["/network/services: needs the name of a network"]);
  expect(said({ name: "back", shared: true, services })).toEqual([
    "/network/services: others than the group are in a network of the whole host: it has no services",
  ]);
  expect(said({ name: "back", services: [...services, { names: ["api"] }] })).toEqual([
    "/network/services/1: the task is a part of it already",
  ]);
});

test("T16: an interface has its address, its gateway and its MAC; the metadata address is out of reach unless it is asked for", () => {
  const { steps, blocked } = networkPlan(task({ mode: "isolated", interfaces: [CLOUD] }), PLACES);
  expect(steps[0]!.plugins).toEqual([
    {
      type: "macvlan",
      master: "eth7",
      mode: "bridge",
      ipam: {
        type: "static",
        addresses: [{ address: "10.9.0.5/24", gateway: "10.9.0.1" }],
        routes: [{ dst: "0.0.0.0/0", gw: "10.9.0.1" }],
      },
    },
    { type: "tuning", mac: "02:00:00:00:00:05" },
  ]);
  // The default route leads to the gateway, not to the bridge.
  expect(steps[1]!.plugins[0]).toMatchObject({ ipam: { routes: [] } });
  expect(blocked).toContain("169.254.169.254");
  expect(networkPlan(task({ metadata: true }), PLACES).blocked).toEqual([]);
});

test("T17: a tag makes a vlan interface", () => {
  const { steps } = networkPlan(task({ mode: "isolated", interfaces: [{ ...CLOUD, association: "vlan", vlan: 7 }] }), PLACES);
  expect(steps[0]!.plugins[0]).toMatchObject({ type: "vlan", master: "eth7", vlanId: 7 });
});

test("T18: an association that nobody knows is named; T15: interfaces in another mode, and what else does not go together", () => {
  expect(said({ mode: "isolated", interfaces: [{ ...CLOUD, association: "foo" }] })).toEqual([
    "/network/interfaces/0/association: there is no association foo: use default, vlan or attached",
  ]);
  expect(said({ mode: "host", interfaces: [CLOUD] })).toEqual([
    "/network/interfaces: interfaces need the mode isolated, and the network's is host",
  ]);
  expect(said({ mode: "isolated" })).toEqual(["/network/mode: the mode isolated needs interfaces"]);
  expect(said({ mode: "none", ports: [{ container: 80 }] })).toEqual([
    "/network/ports: port mappings need the mode bridge, and the network's is none",
  ]);
  expect(said({ ports: [{ container: 80 }, { container: 8080, host: 80 }] })).toEqual(["/network/ports/1: 80/tcp is there twice"]);
  expect(() => networkPlan(task({ mode: "host" }), PLACES)).toThrow("has the mode host");
});

test("E73: port mappings, addresses of the host and the network of a task without any", () => {
  const { steps, ports } = networkPlan(
    task({
      ports: [
        { container: 80, host: 8080 },
        { container: 53, protocol: "udp", address: "127.0.0.1" },
      ],
    }),
    PLACES,
  );
  expect(ports).toEqual([
    { port: 8080, protocol: "tcp", address: undefined },
    { port: 53, protocol: "udp", address: "127.0.0.1" },
  ]);
  // They need no plugin, only rules of the host.
  expect(steps).toMatchObject([
    {
      plugins: [{ type: "bridge" }],
      nat: [
        { host: 8080, container: 80, protocol: "tcp", address: undefined },
        { host: 53, container: 53, protocol: "udp", address: "127.0.0.1" },
      ],
    },
  ]);
  expect(steps[0]!.plugins).toHaveLength(1);
  expect(networkPlan(task({ mode: "none" }), PLACES).steps).toEqual([]);
});

test("T20: connections to anything but loopback go to the proxy, but for its own and those that are ignored; T21: or those to some addresses only", () => {
  const all = { user: 1337, egress: { port: 15_001, ignored: ["10.1.0.0/16"] }, ingress: { port: 15_000, ports: [80, 443] } };
  expect(networkPlan(task({ proxy: all }), PLACES).rules).toEqual({
    redirects: [],
    egress: { user: 1337, port: 15_001, addresses: [], ignored: ["10.1.0.0/16"] },
    ingress: { port: 15_000, ports: [80, 443] },
  });
  const some = { user: 1337, egress: { port: 15_001, addresses: ["127.255.0.0/16"] } };
  expect(networkPlan(task({ proxy: some }), PLACES).rules).toEqual({ redirects: [], egress: { ...some.egress, user: 1337, ignored: [] } });
  expect(networkPlan(task({}), PLACES).rules).toBeUndefined();
  expect(said({ proxy: { user: 1 } })).toEqual(["/network/proxy: needs egress, ingress or transparent"]);
  expect(said({ mode: "none", name: "n" })).toEqual([
    "/network/name: a network with a name needs the mode bridge, and the network's is none",
  ]);
});

test("resolv.conf has no server on the loopback of the host; a task without an address has its name on loopback", () => {
  const hostResolv = "# a comment\nnameserver 127.0.0.53\nnameserver ::1\nnameserver 192.0.2.9\nsearch example.org\n";
  const files = fileContents({ names: ["t"], addresses: [], dns: undefined, hostResolv });
  expect(files["resolv.conf"]).toBe("nameserver 192.0.2.9\nsearch example.org\n");
  expect(files.hosts).toBe("127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n127.0.0.1\tt\n");
});

test("lines of /etc/hosts that a task says; host-gateway is the first address of its network", () => {
  const said = task({
    hosts: [
      { name: "db", address: "192.0.2.5" },
      { name: "up", address: "host-gateway" },
    ],
  });
  const hosts = hostsSaid(said, "10.64.16.1");
  expect(hosts).toEqual([
    { address: "192.0.2.5", names: ["db"] },
    { address: "10.64.16.1", names: ["up"] },
  ]);
  expect(hostsSaid(said, undefined)).toEqual([{ address: "192.0.2.5", names: ["db"] }]);
  const files = fileContents({ names: ["t"], addresses: ["10.64.16.7"], dns: undefined, hostResolv: "", hosts });
  expect(files.hosts.split("\n").slice(-4, -1)).toEqual(["10.64.16.7\tt", "192.0.2.5\tdb", "10.64.16.1\tup"]);
});

test("T23: connections to some addresses go to a proxy as they were made; T23: who sends them there has no other way", () => {
  const { rules, routing } = networkPlan(
    task({ name: "mesh", proxy: { user: 0, transparent: { port: 15_001, addresses: ["192.0.2.0/24"] } } }),
    PLACES,
  );
  expect(rules).toEqual({ redirects: [], transparent: { port: 15_001, addresses: ["192.0.2.0/24"] } });
  expect(routing).toBe("rule add fwmark 0x1/0x1 lookup 100\nroute add local 0.0.0.0/0 dev lo table 100\n");
  const client = task({ name: "mesh", via: [{ task: "proxy", addresses: ["192.0.2.0/24"] }] });
  expect(networkPlan(client, PLACES)).toMatchObject({ rules: undefined, routing: "route replace unreachable 192.0.2.0/24\n" });
  expect(viaRoutes(["192.0.2.0/24"], "10.64.0.2")).toEqual(["route replace 192.0.2.0/24 via 10.64.0.2"]);
  expect(said({ via: [{ task: "proxy", addresses: ["192.0.2.0/24"] }] })).toEqual([
    "/network/via: needs a network with a name: there is no way to others",
  ]);
  expect(said({ proxy: { user: 0, transparent: { port: 1, addresses: ["192.0.2.0/24"] } } })).toEqual([
    "/network/proxy/transparent: needs a network with a name: others have no way here",
  ]);
});

test("a task that asks the resolver has rules that lead to the host's address in its network", () => {
  const host = (places: object) => networkPlan(task({ name: "back" }), { ...PLACES, ...places }).resolver;
  expect(host({})).toBeUndefined();
  expect(host({ resolves: true })).toBe("10.64.0.1");
  expect(host({ resolves: true, bridged: { ...PLACES.bridged, gateway: "10.64.9.9" } })).toBe("10.64.9.9");
});

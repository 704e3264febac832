/** Networks in Compose files. Comments give the output of `docker compose config` 2.40.3 for the same inputs. */
import { expect, test } from "vitest";
import { one, only, read, told } from "../../../test/support/engine/compose-file.ts";

/** Compose specification, "ipam", "ipv4_address", "mac_address". */
test("a network has its subnet, and a service the address that it names, which no other one gets", () => {
  const text = `services:
  dns: { x-runt-rootfs: /r, command: x, networks: { a: { ipv4_address: 172.20.0.2 } } }
  web: { x-runt-rootfs: /r, command: x, networks: [a], mac_address: 02:00:00:00:00:05 }
  other: { x-runt-rootfs: /r, command: x }
networks: { a: { ipam: { config: [{ subnet: 172.20.0.0/24, gateway: 172.20.0.254, ip_range: 172.20.0.0/25, aux_addresses: { printer: 172.20.0.9 } }] } } }
`;
  const { tasks, findings } = read(text);
  expect(findings).toEqual([]);
  const said = { name: "a", subnet: "172.20.0.0/24", gateway: "172.20.0.254", range: "172.20.0.0/25" };
  const [dns, web, other] = tasks.map(({ network }) => network!);
  expect(dns).toMatchObject({ ...said, address: "172.20.0.2" });
  expect(web).toMatchObject({ ...said, reserved: ["172.20.0.9", "172.20.0.2"], mac: "02:00:00:00:00:05" });
  expect(web).not.toHaveProperty("address");
  expect(other).not.toHaveProperty("subnet");
});

test.each([
  ["web: { networks: { a: { ipv4_address: 10.9.0.2 } } }", "networks: { a: }", "services/web/networks: needs the subnet of the network"],
  [
    "web: { scale: 2, networks: { a: { ipv4_address: 172.20.0.2 } } }",
    "networks: { a: { ipam: { config: [{ subnet: 172.20.0.0/24 }] } } }",
    "services/web/networks: an address can be that of one container, and the service has 2",
  ],
  ["web: { networks: [a] }", "networks: { a: { ipam: { config: [{ subnet: fd00::/64 }] } } }", "subnet: is of IPv6"],
  [
    "web: { networks: [x-a] }",
    "networks: { x-a: }",
    "services/web/networks: x-a is an extension for Compose: give the network another name",
  ],
  [
    "web: { networks: { a: { driver_opts: { com.docker.network.endpoint.sysctls: x } } } }",
    "networks: { a: }",
    "com.docker.network.endpoint.sysctls: is not supported: write sysctls at the service",
  ],
  ["web: { networks: { a: { interface_name: a/b } } }", "networks: { a: }", "services/web/networks: is no name of an interface"],
  [
    "web: { networks: { a: { interface_name: e }, b: { interface_name: e } } }",
    "networks: { a: , b: }",
    "services/web/networks: the interface e is there twice",
  ],
  ["web: { networks: { a: { ipv6_address: fd00::2 } } }", "networks: { a: }", "ipv6_address: is not supported: networks have IPv4"],
  [
    "web: { networks: [a] }",
    "networks: { a: { driver_opts: { com.docker.network.bridge.inhibit_ipv4: true } } }",
    "com.docker.network.bridge.inhibit_ipv4: is not supported: com.docker.network.driver.mtu and com.docker.network.bridge.host_binding_ipv4 are",
  ],
  [
    "web: { networks: [a] }",
    "networks: { a: { driver_opts: { com.docker.network.driver.mtu: 67 } } }",
    "com.docker.network.driver.mtu: is a number of bytes from 68 to 65535",
  ],
  [
    "web: { networks: [a] }",
    'networks: { a: { driver_opts: { com.docker.network.bridge.enable_icc: "false" } } }',
    "com.docker.network.bridge.enable_icc: only true is supported",
  ],
  [
    "web: { networks: [a] }",
    "networks: { a: { driver_opts: { com.docker.network.bridge.host_binding_ipv4: '::1' } } }",
    "com.docker.network.bridge.host_binding_ipv4: is no address of IPv4",
  ],
])("%s with %s is refused by name", (service, networks, message) => {
  const text = `services:\n  ${service.replace("{ ", "{ x-runt-rootfs: /r, command: x, ")}\n${networks}\n`;
  expect(told(text)).toEqual([expect.stringContaining(message)]);
});

/** Docker, "Bridge network driver", options. */
test("a bridge has the largest packet that is said, and ports of the host are at the address that the network of the way out names", () => {
  const text = `services:
  web: { x-runt-rootfs: /r, command: x, ports: ["80:80", "127.0.0.9:81:81"], networks: [inner, a] }
networks:
  inner: { internal: true, driver_opts: { com.docker.network.bridge.host_binding_ipv4: 127.0.0.7 } }
  a:
    driver_opts:
      com.docker.network.driver.mtu: 1400
      com.docker.network.bridge.host_binding_ipv4: 127.0.0.2
      com.docker.network.bridge.enable_icc: "true"
      com.docker.network.bridge.enable_ip_masquerade: true
`;
  const { tasks, findings } = read(text);
  expect(findings).toEqual([]);
  expect(tasks[0]!.network).toMatchObject({
    ...{ name: "a", mtu: 1400, further: [{ name: "inner", internal: true }] },
    ports: [
      { host: 80, address: "127.0.0.2" },
      { host: 81, address: "127.0.0.9" },
    ],
  });
  expect(tasks[0]!.network!.further![0]).not.toHaveProperty("mtu");
});

/** Compose: "network proxy declared as external, but could not be found". */
test("networks that others make are named, those that services are in and that the file does not make by another key", () => {
  const text = (networks: string) =>
    `services:\n  web: { x-runt-rootfs: /r, entrypoint: [x], networks: [a, b] }\n  off: { x-runt-rootfs: /r, entrypoint: [x], networks: [c], profiles: [p] }\nnetworks: { ${networks} }\n`;
  const externals = (networks: string) => read(text(networks)).externals;
  expect(externals("a: { external: true, name: shop.proxy }, b: { external: { name: old } }, c: { external: true }")).toEqual([
    "shop-proxy",
    "old",
  ]);
  expect(externals("a: { external: true }, b: { name: a }, c: {}")).toEqual([]);
  expect(externals("a: { external: false }, b: , c: ")).toEqual([]);
});

/** Compose specification, "networks", "name", "external", "internal". */
test("a network with a name, or of another project, is one of the whole host; the way out leads by the first that is not internal", () => {
  const networks = (spec: string, service = "[db, front]") => {
    const found = read(
      `services:\n  web:\n    x-runt-rootfs: /r\n    entrypoint: [x]\n    ports: ["80:80"]\n    networks: ${service}\nnetworks: { ${spec} }\n`,
    );
    expect(found.findings).toEqual([]);
    return [found.tasks[0]!.network, found.warnings.map(({ message }) => message)] as const;
  };
  const [network] = networks("db: { internal: true }, front: { external: true }");
  expect(network).toMatchObject({ name: "front", shared: true, further: [{ name: "db", internal: true }], ports: [{ container: 80 }] });
  expect(networks("db: { name: shop.db }, front: { external: { name: proxy } }")[0]).toMatchObject({
    name: "shop-db",
    shared: true,
    further: [{ name: "proxy", shared: true }],
  });
  expect(networks("db: { internal: true }", "[db]")).toEqual([
    expect.objectContaining({ name: "db", internal: true, ports: [] }),
    ["has no effect: no port of the host leads to an internal network"],
  ]);
});

/** gw_priority: 5; driver_opts, interface_name and ipam options are printed unchanged. */
test("gw_priority says by which network the way out leads, and interface_name how the interface is called; what Docker does not use is told of", () => {
  const text = `services:
  web:
    x-runt-rootfs: /r
    command: x
    networks:
      a: { interface_name: lan0 }
      b: { gw_priority: 5, driver_opts: { com.docker.network.endpoint.ifname: wan0, other: 1 } }
      c: { gw_priority: -1.5 }
networks: { a: { ipam: { options: { x: y } } }, b: , c: }
`;
  const { tasks, findings, warnings } = read(text);
  expect(findings).toEqual([]);
  expect(tasks[0]!.network).toMatchObject({ name: "b", interface: "wan0", further: [{ name: "a", interface: "lan0" }, { name: "c" }] });
  expect(warnings.map(({ pointer, message }) => `${pointer}: ${message}`)).toEqual([
    "/services/web/networks/b/driver_opts/other: has no effect, as with Docker",
    "/networks/a/ipam/options/x: has no effect, as with Docker",
  ]);
});

/** driver: overlay, also without a swarm. */
test("a network of the driver overlay is a bridge, which is told of; one of the driver bridge is not", () => {
  const { tasks, findings, warnings } = read(
    "services: { web: { x-runt-rootfs: /r, command: x, networks: [a, b] } }\nnetworks: { a: { driver: overlay }, b: { driver: bridge } }\n",
  );
  expect([findings, tasks[0]!.network]).toEqual([[], expect.objectContaining({ mode: "bridge", name: "a" })]);
  expect(warnings.map(({ pointer }) => pointer)).toEqual(["/networks/a/driver"]);
});

test("an address in a network of others is looked at when the service gets it", () => {
  const text =
    "services: { web: { x-runt-rootfs: /r, command: x, networks: { a: { ipv4_address: 10.9.0.2 } } } }\nnetworks: { a: { external: true } }\n";
  expect(read(text)).toMatchObject({ findings: [], tasks: [{ network: { name: "a", shared: true, address: "10.9.0.2" } }] });
});

/** Docker, "Macvlan network driver", "IPvlan network driver". */
test("macvlan and ipvlan are on an interface of the host, and have no ports of it", () => {
  const text = (network: string, service = "") =>
    `${one(`    networks: [lan, inner]\n${service}`)}networks: { inner: {}, lan: { ${network} } }\n`;
  const network = (given: string, service?: string) => only(text(given, service)).network!;
  const subnet = "ipam: { config: [{ subnet: 192.0.2.0/24, gateway: 192.0.2.1 }] }";
  expect(
    network(`driver: macvlan, driver_opts: { parent: eth0.50, macvlan_mode: vepa, com.docker.network.driver.mtu: 1400 }, ${subnet}`),
  ).toMatchObject({
    name: "lan",
    link: { type: "macvlan", parent: "eth0.50", mode: "vepa" },
    mtu: 1400,
    subnet: "192.0.2.0/24",
    gateway: "192.0.2.1",
    further: [{ name: "inner" }],
  });
  const ports = network("driver: ipvlan, driver_opts: { parent: eth0, ipvlan_mode: l3 }", '    ports: ["80:80"]\n');
  expect(ports).toMatchObject({
    name: "inner",
    ports: [{ host: 80 }],
    further: [{ name: "lan", link: { type: "ipvlan", parent: "eth0", mode: "l3" } }],
  });
  const alone = `${one('    networks: [lan]\n    ports: ["80:80"]\n')}networks: { lan: { driver: macvlan, driver_opts: { parent: eth0 } } }\n`;
  expect(only(alone).network!.ports).toEqual([]);
  expect(read(alone).warnings.map(({ message }) => message)).toEqual([
    "has no effect, as with Docker: no port of the host leads to a network of macvlan",
  ]);
});

test.each([
  ["driver: macvlan", "driver_opts: needs parent: the interface of the host on which macvlan is made"],
  ["driver: macvlan, driver_opts: { parent: eth0, ipvlan_mode: l2 }", "driver_opts/ipvlan_mode: is no option of macvlan"],
  ["driver: ipvlan, driver_opts: { parent: eth0, ipvlan_mode: l4 }", "driver_opts/ipvlan_mode: l4 is not supported"],
  ["driver_opts: { parent: eth0 }", "driver_opts/parent: is no option of bridge"],
])("a network with %s is refused", (network, message) => {
  expect(told(`${one("    networks: { lan: { ipv4_address: 192.0.2.9 } }\n")}networks: { lan: { ${network} } }\n`)).toEqual([
    expect.stringContaining(`/networks/lan/${message}`),
  ]);
});

/** Source: moby, daemon/container_operations.go, buildSandboxOptions; resolvconf, OverrideSearch. */
test("what a service gives of resolv.conf takes the place of the host's, and an empty search domain is none", () => {
  const dns = (fields: string) => only(one(fields)).network!.dns;
  const none = { servers: [], search: [], options: [] };
  for (const search of ["''", "['']", "'.'", "[.]"])
    expect(dns(`    dns_search: ${search}\n`)).toEqual({ ...none, inherit: ["servers", "options"] });
  expect(dns("    dns_search: [a.example, '']\n")).toEqual({ ...none, search: ["a.example"], inherit: ["servers", "options"] });
  expect(dns("    dns: 192.0.2.1\n")).toEqual({ ...none, servers: ["192.0.2.1"], inherit: ["search", "options"] });
  expect(dns("    dns: 192.0.2.1\n    dns_search: .\n    dns_opt: [rotate]\n")).toEqual({
    ...{ servers: ["192.0.2.1"], search: [], options: ["rotate"] },
  });
  expect(dns("    dns: ''\n    dns_search: []\n")).toBeUndefined();
  expect(only(one("    network_mode: host\n    dns_search: ''\n")).dns).toEqual({ ...none, inherit: ["servers", "options"] });
});

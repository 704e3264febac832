/** The network of a task. */
import { z } from "zod";
import { name } from "./quantities.ts";

export const NETWORK_MODES = ["none", "host", "bridge", "isolated"] as const;

const port = z.int().min(1).max(65_535);
const ip = z.union([z.ipv4("is no IP address"), z.ipv6("is no IP address")]);
const domain = z.string().regex(/^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?\.?$/, "is no domain name");

const portMapping = z.strictObject({
  container: port.describe("Port on which the task listens."),
  host: port.optional().describe("Port of the host. Absent: the same number, or one of hostRange."),
  hostRange: z
    .tuple([port, port])
    .refine(([from, to]) => from <= to, "the first port is the larger one")
    .optional()
    .describe("First and last port of a range on the host. The engine chooses a free one, and keeps it."),
  protocol: z.enum(["tcp", "udp"]).default("tcp"),
  address: ip.optional().describe("Address of the host. Absent: all addresses."),
  service: z
    .strictObject({
      name: domain.describe("Name of the service in the group."),
      sticky: z.literal(true).optional().describe("Whether a client always reaches the same task, as long as that is ready."),
      unready: z.literal(true).optional().describe("Whether the task gets connections even before it is ready."),
    })
    .optional()
    .describe("The service that has the port of the host. Its tasks share it: connections are distributed over those that are ready."),
});

export const dns = z.strictObject({
  inherit: z
    .union([z.boolean(), z.array(z.enum(["servers", "search", "options"])).max(3)])
    .optional()
    .describe(
      "Whether the other fields are added to the host's resolv.conf, or the fields for which they are; an option replaces that of the host.",
    ),
  servers: z.array(ip).max(8).default([]),
  search: z.array(domain).max(32).default([]),
  options: z
    .array(z.string().regex(/^[a-z0-9:-]+$/, "is no option of resolv.conf"))
    .max(32)
    .default([]),
});

const cidr = z.union([z.cidrv4("is no address with a prefix, like 10.0.0.5/24"), z.cidrv6("is no address with a prefix, like fd00::5/64")]);

/** How an interface is made. */
const association = z
  .enum(["default", "vlan", "attached"], {
    error: ({ input }) => `there is no association ${String(input)}: use default, vlan or attached`,
  })
  .default("default")
  .describe(
    "default: a macvlan interface on the parent. vlan: one with a VLAN tag. attached: the parent itself, which another program has provided and announced (runtctl interfaces attach).",
  );

const mac = z
  .string()
  .regex(/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i, "is no MAC address like 02:00:00:00:00:01")
  .optional();

const parent = z
  .string()
  .regex(/^[^\s/:]{1,15}$/, "is no name of an interface")
  .describe("Name of an interface of the host.");

const networkInterface = z.strictObject({
  association,
  parent,
  addresses: z.array(cidr).min(1, "an interface has at least one address").max(64),
  gateway: ip.optional().describe("The default gateway of the task."),
  mac,
  vlan: z.int().min(1).max(4094).optional().describe("The VLAN tag, for the association vlan."),
});

const proxy = z.strictObject({
  user: z
    .int()
    .min(0)
    .max(2 ** 32 - 2)
    .describe("User id of the proxy, whose own connections are not redirected."),
  egress: z
    .strictObject({
      port: port.describe("Port on which the proxy listens."),
      addresses: z
        .array(z.cidrv4("is no range of IPv4 like 127.255.0.0/16"))
        .max(64)
        .default([])
        .describe("Destinations that are redirected to the proxy. Empty: all except loopback."),
      ignored: z.array(z.cidrv4("is no range of IPv4 like 10.0.0.0/8")).max(64).default([]),
    })
    .optional()
    .describe("Connections that containers make."),
  ingress: z
    .strictObject({
      port: port.describe("Port on which the proxy listens."),
      ports: z.array(port).min(1).max(15).describe("Ports to which others connect."),
    })
    .optional()
    .describe("Connections that others make to the task."),
  transparent: z
    .strictObject({
      port: port.describe("Port on which the proxy listens, with IP_TRANSPARENT."),
      addresses: z
        .array(z.cidrv4("is no range of IPv4 like 192.0.2.0/24"))
        .min(1)
        .max(64)
        .describe("Destinations that other tasks route to this task (via)."),
    })
    .optional()
    .describe("Connections of other tasks to some addresses: the proxy sees the original address and port."),
});

const via = z.strictObject({
  task: name.describe("A task of the group in the same named network."),
  addresses: z.array(z.cidrv4("is no range of IPv4 like 192.0.2.0/24")).min(1).max(64),
});

const aliases = z.array(domain).min(1).max(64).optional().describe("Additional host names of the task for other tasks of the network.");

const isShared = z
  .literal(true)
  .optional()
  .describe("The network has this name on the whole host: tasks of other groups with the same setting share it.");
const isInternal = z
  .literal(true)
  .optional()
  .describe("The network has no route to other networks: no default route, and no port of the host.");

const ipv4 = z.ipv4("is no IPv4 address");
/** Modes of interfaces on others. Source: ip-link(8), "macvlan", "ipvlan". */
export const LINK_MODES = { macvlan: ["bridge", "private", "vepa", "passthru"], ipvlan: ["l2", "l3", "l3s"] } as const;
const link = z.strictObject({
  type: z.enum(["macvlan", "ipvlan"]),
  parent,
  mode: z
    .enum([...LINK_MODES.macvlan, ...LINK_MODES.ipvlan])
    .optional()
    .describe(
      "Mode of the driver. macvlan knows bridge (the default), private, vepa and passthru, and ipvlan knows l2 (the default), l3 and l3s.",
    ),
});
/** Addresses of a network, and that of the task in it. */
const addressed = {
  subnet: z
    .cidrv4("is no range of IPv4 like 172.20.0.0/16")
    .optional()
    .describe("Addresses of the network. Absent: the engine chooses a range to which the host has no route."),
  link: link
    .optional()
    .describe(
      "The network is that of an interface of the host: tasks have interfaces on it, and no port of the host leads to them. Absent: a bridge.",
    ),
  gateway: ipv4.optional().describe("Address of the host in the network, or with `link` that of the router. Absent: the first one."),
  range: z.cidrv4("is no range of IPv4 like 172.20.5.0/24").optional().describe("Part of the subnet from which tasks get their addresses."),
  reserved: z.array(ipv4).min(1).max(256).optional().describe("Addresses that the task does not get."),
  address: ipv4
    .optional()
    .describe("Address of the task in `subnet`, or in the subnet of a network of the whole host. Absent: a free one."),
  mac: mac.describe("MAC address of the task's interface. Absent: the kernel chooses one."),
  interface: z
    .string()
    .regex(/^[^\s/:%\p{Cc}]{1,15}$/u, "is no name of an interface")
    .refine((text) => ![".", "..", "lo"].includes(text) && Buffer.byteLength(text) <= 15, "is no name of an interface")
    .optional()
    .describe("Name of the task's interface. Absent: eth0, eth1 and so on, in the order of the networks."),
  mtu: z.int().min(68).max(65_535).optional().describe("MTU of the task's interface, in bytes. Absent: the default of the kernel."),
};

/** One line of /etc/hosts. */
export const hostName = z.strictObject({
  name: domain,
  address: z.union([z.literal("host-gateway"), ip], { error: "is no IP address, and not host-gateway" }),
});

const redirect = z.strictObject({
  port: port.describe("Port of the addresses of the task to which others connect."),
  to: port.describe("Port on which the task listens."),
  protocol: z.enum(["tcp", "udp"]).default("tcp"),
});

const service = z.strictObject({
  names: z
    .array(domain)
    .min(1)
    .max(16)
    .describe("Names of the service. Tasks of the network whose services have the same first name are backends of one service."),
  hosts: z.array(domain).min(1).max(16).optional().describe("Names of the task in a service without an address."),
  address: z
    .union([z.literal("none"), ipv4], { error: "is no IPv4 address, and not none" })
    .optional()
    .describe(
      "Virtual address of the service. Absent: one of 198.18.0.0/15 that the engine chooses. none: the names lead to the tasks themselves.",
    ),
  ports: z.array(redirect).max(1000).default([]).describe("Ports of the virtual address, and those of the task to which they lead."),
  sticky: z.literal(true).optional().describe("Whether a task of the network always reaches the same backend, as long as it is ready."),
  unready: z.literal(true).optional().describe("Whether the task is a backend even before it is ready."),
});

export const network = z.strictObject({
  mode: z
    .enum(NETWORK_MODES)
    .default("bridge")
    .describe("none: only loopback. host: the host's network. bridge: attached to a bridge on the host. isolated: interfaces of its own."),
  name: name
    .optional()
    .describe(
      "Name of the network. Tasks of the group in the same network share a bridge, and find each other by their names. For mode bridge.",
    ),
  fallback: z
    .literal("none")
    .optional()
    .describe(
      "none: where the host cannot make the bridge, for example without CNI plugins, the task has only loopback, and the daemon says so. Absent: it does not start there. For mode bridge without a name, ports, redirects, a proxy, or the address of the host or of the task.",
    ),
  shared: isShared,
  internal: isInternal,
  aliases,
  ...addressed,
  further: z
    .array(z.strictObject({ name, shared: isShared, internal: isInternal, aliases, ...addressed }))
    .min(1)
    .max(15)
    .optional()
    .describe("Additional networks of the group, each with its own bridge. The default route uses the network `name`."),
  ports: z.array(portMapping).max(1000).default([]).describe("Ports of the host that are forwarded to the task; for mode bridge."),
  redirects: z
    .array(redirect)
    .min(1)
    .max(1000)
    .optional()
    .describe("Ports of the task's addresses that lead to other ports of it; for mode bridge. Loopback stays as it is."),
  services: z
    .array(service)
    .min(1)
    .max(256)
    .optional()
    .describe("Services of the network `name` to which the task belongs. Connections are distributed over the ready backends."),
  interfaces: z.array(networkInterface).max(16).default([]).describe("Interfaces; for mode isolated."),
  hosts: z
    .array(hostName)
    .max(256)
    .optional()
    .describe("Additional lines of /etc/hosts. host-gateway: the address of the host in the network of the task."),
  links: z
    .array(z.strictObject({ name: domain, alias: domain }))
    .min(1)
    .max(256)
    .optional()
    .describe("Further names of other tasks in the task's /etc/hosts: `alias` for a task with this `name` or alias, also GROUP-NAME-1."),
  dns: dns.optional().describe("Content of resolv.conf. Absent: that of the host, without servers on loopback."),
  proxy: proxy.optional().describe("Redirects TCP connections (IPv4) of the other containers to one container of the task."),
  via: z
    .array(via)
    .max(64)
    .optional()
    .describe("Routes destinations through another task. They are unreachable while that task does not run. Needs `name`."),
  metadata: z
    .boolean()
    .default(false)
    .describe("Whether the task can reach 169.254.169.254, where clouds give out credentials of the machine."),
});

export type DnsSpec = z.output<typeof dns>;
export type NetworkSpec = z.output<typeof network>;
export type InterfaceSpec = NetworkSpec["interfaces"][number];
export type PortMapping = NetworkSpec["ports"][number];

/** The network of a task. */
import { z } from "zod";
import { name } from "./quantities.ts";

export const NETWORK_MODES = ["none", "host", "bridge", "isolated"] as const;

const port = z.int().min(1).max(65_535);
const ip = z.union([z.ipv4("is no IP address"), z.ipv6("is no IP address")]);
const domain = z.string().regex(/^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?\.?$/, "is no domain name");

const portMapping = z.strictObject({
  container: port.describe("That the task listens on."),
  host: port.optional().describe("Of the host; absent: the same number."),
  protocol: z.enum(["tcp", "udp"]).default("tcp"),
  address: ip.optional().describe("Of the host; absent: all of them."),
});

const dns = z.strictObject({
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
  .enum(["default", "vlan"], { error: ({ input }) => `there is no association ${String(input)}: use default or vlan` })
  .default("default")
  .describe("default: a macvlan interface of the parent. vlan: one with a tag.");

const networkInterface = z.strictObject({
  association,
  parent: z
    .string()
    .regex(/^[^\s/:]{1,15}$/, "is no name of an interface")
    .describe("An interface of the host."),
  addresses: z.array(cidr).min(1, "an interface has at least one address").max(64),
  gateway: ip.optional().describe("The way out of the task."),
  mac: z
    .string()
    .regex(/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i, "is no MAC address like 02:00:00:00:00:01")
    .optional(),
  vlan: z.int().min(1).max(4094).optional().describe("The tag, with association vlan."),
});

const proxy = z.strictObject({
  user: z
    .int()
    .min(0)
    .max(2 ** 32 - 2)
    .describe("Number of the user that the proxy runs as: what it sends goes where it is sent to."),
  egress: z
    .strictObject({
      port: port.describe("On which the proxy listens."),
      addresses: z
        .array(z.cidrv4("is no range of IPv4 like 127.255.0.0/16"))
        .max(64)
        .default([])
        .describe("Of connections that it gets; empty: all but those to loopback."),
      ignored: z.array(z.cidrv4("is no range of IPv4 like 10.0.0.0/8")).max(64).default([]),
    })
    .optional()
    .describe("Connections that containers make."),
  ingress: z
    .strictObject({
      port: port.describe("On which the proxy listens."),
      ports: z.array(port).min(1).max(15).describe("That others connect to."),
    })
    .optional()
    .describe("Connections that others make to the task."),
  transparent: z
    .strictObject({
      port: port.describe("On which the proxy listens, with IP_TRANSPARENT."),
      addresses: z.array(z.cidrv4("is no range of IPv4 like 192.0.2.0/24")).min(1).max(64).describe("That other tasks send here (via)."),
    })
    .optional()
    .describe("Connections that other tasks make to some addresses: the proxy sees the address and the port that they were made to."),
});

const via = z.strictObject({
  task: name.describe("Of the group, behind the same named network."),
  addresses: z.array(z.cidrv4("is no range of IPv4 like 192.0.2.0/24")).min(1).max(64),
});

const aliases = z.array(domain).min(1).max(64).optional().describe("Further names by which others of the network find the task.");

export const network = z.strictObject({
  mode: z
    .enum(NETWORK_MODES)
    .default("bridge")
    .describe("none: loopback only. host: that of the host. bridge: behind a bridge of the host. isolated: interfaces of its own."),
  name: name
    .optional()
    .describe(
      "Tasks of the group with the same name of a network are behind one bridge, and find each other by their names. With mode bridge.",
    ),
  aliases,
  further: z
    .array(z.strictObject({ name, aliases }))
    .min(1)
    .max(15)
    .optional()
    .describe("Further networks of the group, each behind a bridge of its own. The way out is by that of `name`."),
  ports: z.array(portMapping).max(1000).default([]).describe("Ports of the host that lead to the task; with mode bridge."),
  interfaces: z.array(networkInterface).max(16).default([]).describe("With mode isolated."),
  dns: dns.optional().describe("What resolv.conf says. Absent: what the host's says, without servers on loopback."),
  proxy: proxy.optional().describe("A container of the task gets the TCP connections of the others (IPv4)."),
  via: z
    .array(via)
    .max(64)
    .optional()
    .describe("What the task sends to these addresses goes to another task, while that runs; else nowhere. With a name."),
  metadata: z.boolean().default(false).describe("Whether 169.254.169.254, where clouds tell secrets of their machines, can be reached."),
});

export type NetworkSpec = z.output<typeof network>;
export type InterfaceSpec = NetworkSpec["interfaces"][number];
export type PortMapping = NetworkSpec["ports"][number];

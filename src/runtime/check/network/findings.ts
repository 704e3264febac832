/** Findings about network devices and sysctls. */
import { type Entries, entry } from "../catalogue/entry.ts";

const sysctl = "config-linux.md#sysctl";
const devices = "config-linux.md#network-devices";
const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const USER = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };

export const NETWORK: Entries = {
  "net-devices-shared": entry(
    "error",
    "Network devices without a network namespace",
    devices,
    "They are moved into the container's own.",
    "add a network namespace",
    {
      broken: { "/linux/netDevices": { eth1: {} }, "/linux/namespaces/1": null },
      fixed: { "/linux/netDevices": { eth1: {} } },
      at: "/linux/netDevices",
    },
  ),
  "net-devices-rootless": entry(
    "error",
    "Network devices without rights on the host",
    devices,
    "They belong to the host.",
    "leave them out",
    {
      broken: { "/linux/netDevices": { eth1: {} } },
      rootless: true,
    },
  ),
  "net-device-name": entry(
    "error",
    "A name that no network device can have",
    devices,
    "Up to 15 bytes without slash, colon and white space (dev_valid_name of the kernel).",
    "correct the name",
    {
      broken: { "/linux/netDevices": { "eth1/0": {} } },
      fixed: { "/linux/netDevices": { eth1: {} } },
      at: "/linux/netDevices/eth1~10",
    },
  ),
  "net-device-loopback": entry(
    "error",
    "The loopback device",
    devices,
    "Every network namespace has its own, which stays.",
    "leave it out",
    {
      broken: { "/linux/netDevices": { lo: {} } },
      at: "/linux/netDevices/lo",
    },
  ),
  "net-device-target": entry(
    "error",
    "A name in the container that no device can have",
    devices,
    "Up to 15 bytes without slash, colon and white space.",
    "correct the name",
    {
      broken: { "/linux/netDevices": { eth1: { name: "a b" } } },
      fixed: { "/linux/netDevices": { eth1: { name: "a" } } },
      at: "/linux/netDevices/eth1/name",
    },
  ),
  "net-device-template": entry(
    "error",
    "A % that is not the only %d",
    devices,
    "The kernel puts the next free number for %d.",
    "use %d once",
    {
      broken: { "/linux/netDevices": { eth1: { name: "net%s" } } },
      fixed: { "/linux/netDevices": { eth1: { name: "net%d" } } },
      at: "/linux/netDevices/eth1/name",
    },
  ),
  "net-device-duplicate": entry(
    "error",
    "Two devices of one name in the container",
    devices,
    "Names are unique there, and lo is taken.",
    "append %d to the name",
    {
      broken: { "/linux/netDevices": { eth1: { name: "net0" }, eth2: { name: "net0" } } },
      fixed: { "/linux/netDevices": { eth1: { name: "net0" }, eth2: { name: "net1" } } },
      at: "/linux/netDevices/eth2/name",
    },
  ),
  "net-device-missing": entry(
    "error",
    "A network device that the host does not have",
    devices,
    "It is looked up in the runtime's network namespace.",
    "correct the name, or make the device first",
    {
      broken: { "/linux/netDevices": { eth9: {} } },
      fixed: { "/linux/netDevices": { eth1: {} } },
      at: "/linux/netDevices/eth9",
    },
  ),
  "sysctl-key": entry(
    "error",
    "A sysctl that is no name",
    sysctl,
    "It is the name of a file below /proc/sys, with dots or slashes.",
    "correct the name",
    {
      broken: { "/linux/sysctl": { "net..core": "1" } },
      at: "/linux/sysctl/net..core",
    },
  ),
  "sysctl-host": entry(
    "error",
    "A sysctl that belongs to the whole host",
    sysctl,
    "Only settings that the kernel keeps per namespace can be the container's own: those of ipc, net, user and the domain name.",
    "set it on the host, or leave it out",
    { broken: { "/linux/sysctl": { "vm.swappiness": "10" } }, at: "/linux/sysctl/vm.swappiness" },
  ),
  "sysctl-shared": entry(
    "error",
    "A sysctl of a namespace that is the host's",
    sysctl,
    "It would be changed for everybody.",
    "add the namespace",
    {
      broken: { "/linux/sysctl": { "net.core.somaxconn": "128" }, "/linux/namespaces/1": null },
      fixed: { "/linux/sysctl": { "net.core.somaxconn": "128" } },
      at: "/linux/sysctl/net.core.somaxconn",
    },
  ),
  "sysctl-conflict": entry(
    "error",
    "A sysctl that is a field as well",
    sysctl,
    "hostname and domainname have fields of their own.",
    "use the field",
    {
      broken: { "/linux/sysctl": { "kernel.hostname": "web" } },
      fixed: { "/hostname": "web" },
      at: "/linux/sysctl/kernel.hostname",
    },
  ),
  "sysctl-value": entry(
    "error",
    "A sysctl with a value that it does not take",
    sysctl,
    "The kernel expects numbers there.",
    "write numbers",
    {
      broken: { "/linux/sysctl": { "net.core.somaxconn": "many" } },
      fixed: { "/linux/sysctl": { "net.core.somaxconn": "128" } },
      at: "/linux/sysctl/net.core.somaxconn",
    },
  ),
  "sysctl-form": entry(
    "error",
    "A sysctl that has numbers on this host, with a text",
    sysctl,
    "What stands in the file below /proc/sys are numbers, and the kernel takes nothing else.",
    "write numbers",
    {
      broken: { "/linux/sysctl": { "net.ipv4.conf.default.rp_filter": "loose" } },
      fixed: { "/linux/sysctl": { "net.ipv4.conf.default.rp_filter": "2" } },
      at: "/linux/sysctl/net.ipv4.conf.default.rp_filter",
    },
  ),
  "sysctl-ports": entry(
    "error",
    "Ranges of ports that do not go together",
    "ip(7)",
    "The range of local ports begins at or behind the first port that anybody may use, and ends behind its beginning.",
    "correct one of the two",
    {
      broken: { "/linux/sysctl": { "net.ipv4.ip_unprivileged_port_start": "40000" } },
      fixed: { "/linux/sysctl": { "net.ipv4.ip_unprivileged_port_start": "80" } },
      at: "/linux/sysctl/net.ipv4.ip_unprivileged_port_start",
    },
  ),
  "sysctl-limit": entry(
    "error",
    "A sysctl above what this kernel takes",
    sysctl,
    "Newer kernels keep it in fewer bits.",
    "use a smaller number",
    {
      broken: { "/linux/sysctl": { "net.ipv4.tcp_keepalive_probes": "256" } },
      fixed: { "/linux/sysctl": { "net.ipv4.tcp_keepalive_probes": "9" } },
      at: "/linux/sysctl/net.ipv4.tcp_keepalive_probes",
    },
  ),
  "sysctl-interface": entry(
    "error",
    "A sysctl of an interface that a new network namespace does not have",
    "network_namespaces(7)",
    "It begins with lo alone, unless a hook or linux.netDevices brings others.",
    "set it for default, or bring the interface along",
    {
      broken: { "/linux/sysctl": { "net.ipv4.conf.eth0.rp_filter": "1" } },
      fixed: { "/linux/sysctl": { "net.ipv4.conf.default.rp_filter": "1" } },
      at: "/linux/sysctl/net.ipv4.conf.eth0.rp_filter",
    },
  ),
  "sysctl-directory": entry("error", "A sysctl that is a directory", sysctl, "Only the files in it have values.", "name a file in it", {
    broken: { "/linux/sysctl": { "net.core": "1" } },
    fixed: { "/linux/sysctl": { "net.core.somaxconn": "128" } },
    at: "/linux/sysctl/net.core",
  }),
  "sysctl-read-only": entry(
    "error",
    "A sysctl that can only be read",
    sysctl,
    "The kernel shows it, and no process can change it.",
    "leave it out",
    {
      broken: { "/linux/sysctl": { "net.ipv4.tcp_available_congestion_control": "reno" } },
      at: "/linux/sysctl/net.ipv4.tcp_available_congestion_control",
    },
  ),
  "sysctl-first-namespace": entry(
    "error",
    "A sysctl of the host's network namespace",
    "network_namespaces(7)",
    "A new network namespace does not have it, or only shows it.",
    "set it on the host",
    {
      broken: { "/linux/sysctl": { "net.core.rmem_max": "4194304" } },
      fixed: { "/linux/sysctl": { "net.core.somaxconn": "128" } },
      at: "/linux/sysctl/net.core.rmem_max",
    },
  ),
  "sysctl-user-namespace": entry(
    "error",
    "A sysctl that a user namespace cannot write",
    "user_namespaces(7)",
    "The file belongs to the host's root, and root of the container is another user.",
    "set the field domainname",
    {
      broken: {
        ...USER,
        "/linux/sysctl": { "kernel.domainname": "example.org" },
      },
      fixed: {
        ...USER,
        "/domainname": "example.org",
      },
      at: "/linux/sysctl/kernel.domainname",
    },
  ),
  "sysctl-groups": entry(
    "error",
    "Groups of a sysctl that the user namespace does not have",
    "user_namespaces(7)",
    "The kernel takes groups that linux.gidMappings has.",
    "name groups of the container, or map more of them",
    {
      broken: { ...USER, "/linux/sysctl": { "net.ipv4.ping_group_range": "0 2147483647" } },
      fixed: { ...USER, "/linux/sysctl": { "net.ipv4.ping_group_range": "0 65535" } },
      at: "/linux/sysctl/net.ipv4.ping_group_range",
    },
  ),
  "sysctl-empty": entry(
    "warning",
    "A sysctl with an empty value",
    sysctl,
    "A write of no bytes changes nothing.",
    "write the value, or leave it out",
    {
      broken: { "/linux/sysctl": { "net.core.somaxconn": "" } },
      fixed: { "/linux/sysctl": { "net.core.somaxconn": "128" } },
      at: "/linux/sysctl/net.core.somaxconn",
    },
  ),
  "sysctl-absent": entry(
    "error",
    "A sysctl that this kernel does not have",
    sysctl,
    "There is no such file below /proc/sys; it may belong to a module that is not loaded.",
    "correct the name, or load the module",
    {
      broken: { "/linux/sysctl": { "net.core.somaxcon": "128" } },
      fixed: { "/linux/sysctl": { "net.core.somaxconn": "128" } },
      at: "/linux/sysctl/net.core.somaxcon",
    },
  ),
};

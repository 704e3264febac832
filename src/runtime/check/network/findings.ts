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
    "They are moved into the container's own network namespace.",
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
    "An invalid name of a network device",
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
    "Every network namespace has its own loopback device, which cannot be moved.",
    "leave it out",
    {
      broken: { "/linux/netDevices": { lo: {} } },
      at: "/linux/netDevices/lo",
    },
  ),
  "net-device-target": entry(
    "error",
    "An invalid name of a device in the container",
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
    "A % that is not a single %d",
    devices,
    "The kernel replaces %d by the next free number.",
    "use %d once",
    {
      broken: { "/linux/netDevices": { eth1: { name: "net%s" } } },
      fixed: { "/linux/netDevices": { eth1: { name: "net%d" } } },
      at: "/linux/netDevices/eth1/name",
    },
  ),
  "net-device-duplicate": entry(
    "error",
    "Two devices with one name in the container",
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
    "A sysctl with an invalid name",
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
    "A container can only have settings that the kernel keeps per namespace: those of ipc, net, user and the domain name.",
    "set it on the host, or leave it out",
    { broken: { "/linux/sysctl": { "vm.swappiness": "10" } }, at: "/linux/sysctl/vm.swappiness" },
  ),
  "sysctl-shared": entry(
    "error",
    "A sysctl of a namespace of the host",
    sysctl,
    "It would change for the whole host.",
    "add the namespace",
    {
      broken: { "/linux/sysctl": { "net.core.somaxconn": "128" }, "/linux/namespaces/1": null },
      fixed: { "/linux/sysctl": { "net.core.somaxconn": "128" } },
      at: "/linux/sysctl/net.core.somaxconn",
    },
  ),
  "sysctl-conflict": entry(
    "error",
    "A sysctl that is also a field",
    sysctl,
    "hostname and domainname are fields of the configuration.",
    "use the field",
    {
      broken: { "/linux/sysctl": { "kernel.hostname": "web" } },
      fixed: { "/hostname": "web" },
      at: "/linux/sysctl/kernel.hostname",
    },
  ),
  "sysctl-value": entry("error", "A sysctl with an invalid value", sysctl, "The kernel expects numbers there.", "write numbers", {
    broken: { "/linux/sysctl": { "net.core.somaxconn": "many" } },
    fixed: { "/linux/sysctl": { "net.core.somaxconn": "128" } },
    at: "/linux/sysctl/net.core.somaxconn",
  }),
  "sysctl-form": entry(
    "error",
    "A text as the value of a sysctl that has numbers on this host",
    sysctl,
    "The file below /proc/sys has numbers, and the kernel accepts only numbers.",
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
    "The range of local ports must begin at or after the first unprivileged port, and end after its beginning.",
    "correct one of the two",
    {
      broken: { "/linux/sysctl": { "net.ipv4.ip_unprivileged_port_start": "40000" } },
      fixed: { "/linux/sysctl": { "net.ipv4.ip_unprivileged_port_start": "80" } },
      at: "/linux/sysctl/net.ipv4.ip_unprivileged_port_start",
    },
  ),
  "sysctl-limit": entry(
    "error",
    "A sysctl above the maximum of this kernel",
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
    "It only has lo, unless a hook or linux.netDevices adds others.",
    "set it for default, or add the interface",
    {
      broken: { "/linux/sysctl": { "net.ipv4.conf.eth0.rp_filter": "1" } },
      fixed: { "/linux/sysctl": { "net.ipv4.conf.default.rp_filter": "1" } },
      at: "/linux/sysctl/net.ipv4.conf.eth0.rp_filter",
    },
  ),
  "sysctl-directory": entry(
    "error",
    "A sysctl that is a directory",
    sysctl,
    "Only files in the directory have values.",
    "name a file in it",
    {
      broken: { "/linux/sysctl": { "net.core": "1" } },
      fixed: { "/linux/sysctl": { "net.core.somaxconn": "128" } },
      at: "/linux/sysctl/net.core",
    },
  ),
  "sysctl-read-only": entry("error", "A read-only sysctl", sysctl, "The kernel shows it, and no process can change it.", "leave it out", {
    broken: { "/linux/sysctl": { "net.ipv4.tcp_available_congestion_control": "reno" } },
    at: "/linux/sysctl/net.ipv4.tcp_available_congestion_control",
  }),
  "sysctl-first-namespace": entry(
    "error",
    "A sysctl of the host's network namespace",
    "network_namespaces(7)",
    "A new network namespace does not have it, or has it read-only.",
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
    "The kernel accepts only groups of linux.gidMappings.",
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

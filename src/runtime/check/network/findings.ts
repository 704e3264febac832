/** Findings about network devices and sysctls. */
import { type Entries, entry } from "../catalogue/entry.ts";

const sysctl = "config-linux.md#sysctl";
const devices = "config-linux.md#network-devices";

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

/** The command lines of the two programs that are a machine. Pure. */
import { type Interface, tapName } from "../network/links.ts";
import { diskSerial, JAIL, PORT, TAG } from "../places.ts";
import type { MachineRequest } from "../request.ts";

const KERNEL_WORDS = [
  // Without a firmware's or a clock's help, and quietly.
  ...["quiet", "loglevel=1", "no_timer_check", "tsc=reliable", "mitigations=off", "random.trust_cpu=on", "cgroup_no_v1=all"],
  // The machine ends when the guest's kernel panics. It also ends after an oops of one process, because the end of that process would not be reported.
  ...["oops=panic", "panic=-1", "reboot=t", "rdinit=/runt"],
];
const PROBE_MIB = 128;

interface Guest {
  readonly accelerator: "tcg" | "kvm";
  /** What its first process does, and what else it is told. */
  readonly role: string;
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly console: boolean;
  /** Devices beside the channel. */
  readonly devices: readonly string[];
}

/** A guest that only says that it has booted with KVM. @param channel descriptor of the hypervisor's end of the channel */
export function probeArguments(request: MachineRequest, channel: number): string[] {
  const guest: Guest = { accelerator: "kvm", role: "machine-probe", cpus: 1, memoryMiB: PROBE_MIB, console: false, devices: [] };
  return [...guestArguments(request, channel, guest), ...sandboxArguments(true)];
}

export function hypervisorArguments(
  request: MachineRequest,
  accelerator: "tcg" | "kvm",
  channel: number,
  interfaces: readonly Interface[],
  disks: readonly OpenDisk[] = [],
): string[] {
  const { console, cpus, memoryMiB, sharedMemoryKiB, user } = request;
  const files = ["-chardev", `socket,id=files,path=${JAIL.files}`, "-device", `vhost-user-fs-pci,chardev=files,tag=${TAG}`];
  const devices = [...files, ...interfaces.flatMap(interfaceArguments), ...disks.flatMap(diskArguments)];
  const alone = interfaces.length === 0;
  return [
    ...guestArguments(request, channel, { accelerator, role: `machine-guest ${sharedMemoryKiB}`, cpus, memoryMiB, console, devices }),
    ...(alone ? [] : ["-runas", `${user}:${user}`]),
    ...sandboxArguments(alone),
  ];
}

function guestArguments({ cacheMiB, hypervisor, kernelParameters }: MachineRequest, channel: number, guest: Guest): string[] {
  const { accelerator, role, cpus, memoryMiB, console, devices } = guest;
  return [
    hypervisor,
    ...["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-monitor", "none", "-parallel", "none"],
    ...["-machine", "q35,memory-backend=memory,hpet=off,usb=off,vmport=off,smm=off"],
    ...(accelerator === "kvm"
      ? ["-accel", "kvm", "-cpu", "host"]
      : ["-accel", `tcg,thread=multi,tb-size=${cacheMiB}`, "-cpu", "max,-cx16"]),
    ...["-smp", String(cpus), "-m", String(memoryMiB)],
    ...["-object", `memory-backend-memfd,id=memory,size=${memoryMiB}M,share=on`],
    ...[
      "-kernel",
      JAIL.kernel,
      "-initrd",
      JAIL.initrd,
      "-append",
      // What stands behind "--" is for the first process.
      [...(console ? ["console=ttyS0"] : []), ...KERNEL_WORDS, ...kernelParameters, "--", role].join(" "),
    ],
    ...(console ? ["-serial", "stdio"] : ["-serial", "none"]),
    ...["-device", "virtio-serial-pci,max_ports=2", "-chardev", `socket,id=channel,fd=${channel}`],
    ...["-device", `virtserialport,chardev=channel,name=${PORT}`],
    ...devices,
  ];
}

/** It starts no program and gains no rights, and no device but those is there. Where it has to become another user by itself it may. */
function sandboxArguments(alone: boolean): string[] {
  return ["-sandbox", `on,obsolete=deny,elevateprivileges=${alone ? "deny" : "allow"},spawn=deny,resourcecontrol=deny`];
}

function interfaceArguments({ hardwareAddress, mtu }: Interface, number: number): string[] {
  const id = `net${number}`;
  return [
    ...["-netdev", `tap,id=${id},ifname=${tapName(number)},script=no,downscript=no`],
    ...["-device", `virtio-net-pci,netdev=${id},mac=${hardwareAddress},host_mtu=${mtu},romfile=`],
  ];
}

/** A disk, and the descriptor by which the hypervisor has it. */
export interface OpenDisk {
  readonly fd: number;
  readonly readonly: boolean;
}

/**
 * By its descriptor and never by a name. Requests to discard or to write zeros are refused: they would reach blocks of the host without the data passing
 * through the queue.
 */
function diskArguments({ fd, readonly }: OpenDisk, number: number): string[] {
  const [set, id] = [number + 1, `disk${number}`];
  const node = {
    ...{ driver: "host_device", "node-name": id, filename: `/dev/fdset/${set}`, "read-only": readonly, "auto-read-only": false },
    discard: "ignore",
  };
  return [
    ...["-add-fd", `fd=${fd},set=${set}`],
    ...["-blockdev", JSON.stringify(node)],
    ...["-device", `virtio-blk-pci,drive=${id},serial=${diskSerial(number)},discard=off,write-zeroes=off`],
  ];
}

/** @param socket descriptor of the socket that the hypervisor will connect to */
export function fileServerArguments({ virtiofsd, fileCache }: Pick<MachineRequest, "virtiofsd" | "fileCache">, socket: number): string[] {
  const cache = fileCache === "never" ? "none" : fileCache;
  const options = [`source=${JAIL.share}`, "announce_submounts", `cache=${cache}`, "xattr", "log_level=err", "sandbox=chroot"];
  return [virtiofsd, "-f", `--fd=${socket}`, "-o", options.join()];
}

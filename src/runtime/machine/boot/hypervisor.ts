/** The command lines of the two programs that are a machine. Pure. */
import { type Interface, tapName } from "../network/interface.ts";
import { JAIL, PORT, TAG } from "../places.ts";
import type { MachineRequest } from "../request.ts";

const KERNEL_WORDS = [
  // Without a firmware's or a clock's help, and quietly.
  ...["quiet", "loglevel=1", "no_timer_check", "tsc=reliable", "mitigations=off", "random.trust_cpu=on", "cgroup_no_v1=all"],
  // The machine ends when the guest's kernel panics. It also ends after an oops of one process, because the end of that process would not be reported.
  ...["oops=panic", "panic=-1", "reboot=t", "rdinit=/runt", "--", "machine-guest"],
];

/** @param channel descriptor of the hypervisor's end of the channel */
export function hypervisorArguments(request: MachineRequest, channel: number, interfaces: readonly Interface[]): string[] {
  const { accelerator, cacheMiB, console, cpus, hypervisor, memoryMiB, user } = request;
  const alone = interfaces.length === 0;
  return [
    hypervisor,
    ...["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-monitor", "none", "-parallel", "none"],
    ...["-machine", "q35,memory-backend=memory,hpet=off,usb=off,vmport=off,smm=off"],
    ...(accelerator === "kvm"
      ? ["-accel", "kvm", "-cpu", "host"]
      : ["-accel", `tcg,thread=multi,tb-size=${cacheMiB}`, "-cpu", "max,-cx16"]),
    ...["-smp", String(cpus), "-m", String(memoryMiB)],
    ...["-object", `memory-backend-memfd,id=memory,size=${memoryMiB}M,share=on`],
    ...["-kernel", JAIL.kernel, "-initrd", JAIL.initrd, "-append", [...(console ? ["console=ttyS0"] : []), ...KERNEL_WORDS].join(" ")],
    ...(console ? ["-serial", "stdio"] : ["-serial", "none"]),
    ...["-device", "virtio-serial-pci,max_ports=2", "-chardev", `socket,id=channel,fd=${channel}`],
    ...["-device", `virtserialport,chardev=channel,name=${PORT}`],
    ...["-chardev", `socket,id=files,path=${JAIL.files}`, "-device", `vhost-user-fs-pci,chardev=files,tag=${TAG}`],
    ...interfaces.flatMap(interfaceArguments),
    // It starts no program and gains no rights, and no device but these is there. Where it has to become another user by itself it may.
    ...(alone ? [] : ["-runas", `${user}:${user}`]),
    ...["-sandbox", `on,obsolete=deny,elevateprivileges=${alone ? "deny" : "allow"},spawn=deny,resourcecontrol=deny`],
  ];
}

function interfaceArguments({ hardwareAddress, mtu }: Interface, number: number): string[] {
  const id = `net${number}`;
  return [
    ...["-netdev", `tap,id=${id},ifname=${tapName(number)},script=no,downscript=no`],
    ...["-device", `virtio-net-pci,netdev=${id},mac=${hardwareAddress},host_mtu=${mtu},romfile=`],
  ];
}

/** @param socket descriptor of the socket that the hypervisor will connect to */
export function fileServerArguments({ virtiofsd }: Pick<MachineRequest, "virtiofsd">, socket: number): string[] {
  const options = [`source=${JAIL.share}`, "announce_submounts", "cache=auto", "xattr", "log_level=err", "sandbox=chroot"];
  return [virtiofsd, "-f", `--fd=${socket}`, "-o", options.join()];
}

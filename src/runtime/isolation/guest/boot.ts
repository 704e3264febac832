/** From the kernel's first program to a system that containers can be made in. */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import { GUEST, PORT, TAG } from "../places.ts";
import { CONNECTIONS, mountShared } from "./share.ts";

/** In the initrd: modules in the order of their needs, one path a line. */
const MODULES = "/modules/order";
/** The same for the modules that not every guest needs: those, and for each name a file with their paths in the guest. */
const OPTIONAL = "/optional";
const NEW_ROOT = "/new";
const COPY_AT_ONCE = 1 << 20;
const CGROUPS = "/sys/fs/cgroup";

/** Flags of mount(2) (sys/mount.h). */
const [NOSUID, NODEV, NOEXEC, MOVE] = [0x2, 0x4, 0x8, 0x2000];
/** The guest is there to show that it boots. */
export function probe(): never {
  mountKernel();
  const port = openPort();
  host.write(port, ".");
  for (;;) host.sleep(1000);
}

/** Returns the descriptor of the port to the host. @param sharedMemoryKiB size of /dev/shm */
export function bootGuest(sharedMemoryKiB: number): number {
  mountKernel();
  leaveInitrd(sharedMemoryKiB);
  mountCgroups();
  kernel.mount(TAG, made(GUEST.share), "virtiofs", NODEV, "");
  kernel.mount("fusectl", CONNECTIONS, "fusectl", NOSUID | NODEV | NOEXEC, "");
  mountShared(GUEST.share);
  return openPort();
}

/** The kernel's own file systems, and its modules. */
function mountKernel(): void {
  for (const directory of ["/proc", "/sys", "/dev", NEW_ROOT]) host.tryMkdir(directory, 0o755);
  kernel.mount("proc", "/proc", "proc", NOSUID | NODEV | NOEXEC, "");
  kernel.mount("sysfs", "/sys", "sysfs", NOSUID | NODEV | NOEXEC, "");
  kernel.mount("devtmpfs", "/dev", "devtmpfs", NOSUID | NOEXEC, "mode=0755");
  for (const path of lines(host.readFile(MODULES))) kernel.insertModule(path);
}

/** pivot_root(2) refuses the root that the kernel begins with: containers are made in a tmpfs, with a copy of this program. */
function leaveInitrd(sharedMemoryKiB: number): void {
  kernel.mount("tmpfs", NEW_ROOT, "tmpfs", NODEV, "mode=0755,size=50%");
  copyFile(GUEST.runt, `${NEW_ROOT}${GUEST.runt}`, 0o755);
  host.mkdir(`${NEW_ROOT}${GUEST.modules}`, 0o755);
  const optional = host.readdir(OPTIONAL);
  for (const name of optional) copyFile(`${OPTIONAL}/${name}`, `${NEW_ROOT}${GUEST.modules}/${name}`, 0o644);
  for (const directory of ["/proc", "/sys", "/dev"]) {
    host.mkdir(`${NEW_ROOT}${directory}`, 0o755);
    kernel.mount(directory, `${NEW_ROOT}${directory}`, "", MOVE, "");
  }
  for (const path of [...lines(host.readFile(MODULES)), MODULES, ...optional.map((name) => `${OPTIONAL}/${name}`)]) host.unlink(path);
  host.chdir(NEW_ROOT);
  kernel.mount(".", "/", "", MOVE, "");
  kernel.chroot(".");
  host.chdir("/");
  for (const directory of ["/run", "/tmp", "/dev/pts", GUEST.sharedMemory, GUEST.joined]) host.tryMkdir(directory, 0o755);
  kernel.mount("devpts", "/dev/pts", "devpts", NOSUID | NOEXEC, "mode=0620,ptmxmode=0666");
  kernel.mount("tmpfs", GUEST.sharedMemory, "tmpfs", NOSUID | NODEV, `mode=1777,size=${sharedMemoryKiB}k`);
}

function copyFile(path: string, to: string, mode: number): void {
  const [from, out] = [host.open(path, host.O.RDONLY), host.open(to, host.O.WRONLY | host.O.CREAT | host.O.EXCL, mode)];
  for (let at = 0; ; ) {
    const piece = host.pread(from, at, COPY_AT_ONCE);
    if (piece.byteLength === 0) break;
    host.write(out, piece);
    at += piece.byteLength;
  }
  host.close(from);
  host.close(out);
}

function mountCgroups(): void {
  kernel.mount("cgroup2", CGROUPS, "cgroup2", NOSUID | NODEV | NOEXEC, "");
  for (const controller of host.readFile(`${CGROUPS}/cgroup.controllers`, undefined, true).trim().split(" ")) {
    host.writeFile(`${CGROUPS}/cgroup.subtree_control`, `+${controller}`, host.O.WRONLY, 0);
  }
}

function openPort(): number {
  const ports = "/sys/class/virtio-ports";
  const name = host.readdir(ports).find((each) => host.readFile(`${ports}/${each}/name`, undefined, true).trim() === PORT);
  if (name === undefined) throw new Error(`no port ${PORT}`);
  return host.open(`/dev/${name}`, host.O.RDWR | host.O.NONBLOCK);
}

function made(directory: string): string {
  host.tryMkdir(directory, 0o755);
  return directory;
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

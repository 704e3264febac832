/** The shared directory of a machine that has booted: what processes of the host put there for the guest, and take away. */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import { JAIL, SHARED, SHELL_DIRECTORIES } from "../places.ts";

/** The shared directory of a machine that has booted, as the processes of a container that joins it change it: in the monitor's mount namespace. */
export class SharedDirectory {
  readonly #monitor: string;
  readonly #path: string;
  /** Of the monitor, for the processes that join. */
  readonly socket: string;

  /** From here on this process is in the monitor's mount namespace, with the root that it had. `monitor`: its directory below /proc. */
  constructor(monitor: string) {
    host.chdir("/");
    host.leaveOwnMounts(host.open(`${monitor}/ns/mnt`, host.O.RDONLY));
    kernel.chroot(".");
    this.#monitor = monitor;
    this.#path = `${monitor}/root${JAIL.share}`;
    this.socket = `${monitor}/root${JAIL.monitor}`;
  }

  /** `tree`: a detached tree of mounts. Returns the name of the entry. */
  add(id: string, tree: number): string {
    const name = `${SHARED.joined}${id}.${Math.trunc(host.monotonic() * 1000)}`;
    const place = `${this.#path}/${name}`;
    host.mkdir(place, 0o755);
    const directory = openDirectory(place);
    host.attachMount(tree, directory);
    host.close(directory);
    return name;
  }

  /**
   * An entry with this program alone and the directories that a shell needs, read-only for the guest by the mount of the program. One that is there stays:
   * all shells of a machine share it. Returns its name. @throws Error: there is no such program
   */
  addShell(program: string): string {
    const root = host.open(`${this.#monitor}/root`, host.O.PATH | host.O.DIRECTORY);
    const file = openProgram(root, program);
    const { dev, ino } = host.fstat(file);
    const name = `${SHARED.shell}${dev}-${ino}`;
    const share = openDirectory(this.#path);
    if (host.tryMkdir(inside(share, name), 0o755)) fillShell(openDirectory(inside(share, name)), file);
    for (const fd of [file, root, share]) host.close(fd);
    return name;
  }

  remove(id: string): void {
    const own = (name: string): boolean => name.slice(0, name.lastIndexOf(".")) === `${SHARED.joined}${id}`;
    for (const name of host.readdir(this.#path)) if (own(name)) remove(`${this.#path}/${name}`);
  }
}

/** The guest can put links there: none is followed. */
function openDirectory(path: string): number {
  return host.open(path, host.O.PATH | host.O.DIRECTORY | host.O.NOFOLLOW);
}

const inside = (directory: number, name: string): string => `/proc/self/fd/${directory}/${name}`;

/** `entry` is closed. */
function fillShell(entry: number, program: number): void {
  host.mkdir(inside(entry, SHARED.root), 0o755);
  const root = openDirectory(inside(entry, SHARED.root));
  for (const name of SHELL_DIRECTORIES) host.mkdir(inside(root, name), 0o755);
  const place = inside(entry, `${SHARED.volume}0`);
  host.close(host.open(place, host.O.WRONLY | host.O.CREAT | host.O.EXCL | host.O.NOFOLLOW, 0o755));
  const target = host.open(place, host.O.PATH | host.O.NOFOLLOW);
  const tree = host.cloneMount(program);
  host.attachMount(tree, target);
  for (const fd of [tree, target, root, entry]) host.close(fd);
}

/** A regular file on the mount of /usr, which is read-only there: the guest must not be able to write to it. */
function openProgram(root: number, program: string): number {
  const [usr, file] = [host.openInRoot(root, USR, host.O.PATH | host.O.DIRECTORY), tryOpen(root, program)];
  const isBelow = file !== undefined && host.mountIds(file).id === host.mountIds(usr).id;
  host.close(usr);
  if (file === undefined || !isBelow || host.fstat(file).mode >> 12 !== REGULAR) {
    throw new Error(`${program}: a shell for a machine has to be a static program below ${USR} of this host`);
  }
  return file;
}

const USR = "/usr";
const REGULAR = 0o10;

function tryOpen(root: number, path: string): number | undefined {
  try {
    return host.openInRoot(root, path, host.O.PATH);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return undefined;
    throw error;
  }
}

function remove(place: string): void {
  const root = openDirectory(place);
  try {
    host.detachMount(root);
  } catch (error) {
    // Nothing is mounted there.
    if (!host.isErrno(error, "EINVAL")) throw error;
  }
  host.close(root);
  host.rmdir(place);
}

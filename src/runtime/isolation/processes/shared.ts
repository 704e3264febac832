/** The shared directory of a machine that has booted, as the processes of a container that joins it change it: in the monitor's mount namespace. */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import { JAIL, SHARED } from "../places.ts";

export class SharedDirectory {
  readonly #path: string;
  /** Of the monitor, for the processes that join. */
  readonly socket: string;

  /** From here on this process is in the monitor's mount namespace, with the root that it had. `monitor`: its directory below /proc. */
  constructor(monitor: string) {
    host.chdir("/");
    host.leaveOwnMounts(host.open(`${monitor}/ns/mnt`, host.O.RDONLY));
    kernel.chroot(".");
    this.#path = `${monitor}/root${JAIL.share}`;
    this.socket = `${monitor}/root${JAIL.monitor}`;
  }

  /** `tree`: a detached tree of mounts. Returns the name of the entry. */
  add(id: string, tree: number): string {
    const name = `${SHARED.joined}${id}.${Math.trunc(host.monotonic() * 1000)}`;
    const place = `${this.#path}/${name}`;
    host.mkdir(place, 0o755);
    const directory = host.open(place, host.O.PATH | host.O.DIRECTORY);
    host.attachMount(tree, directory);
    host.close(directory);
    return name;
  }

  remove(id: string): void {
    const own = (name: string): boolean => name.slice(0, name.lastIndexOf(".")) === `${SHARED.joined}${id}`;
    for (const name of host.readdir(this.#path)) if (own(name)) remove(`${this.#path}/${name}`);
  }
}

function remove(place: string): void {
  const root = host.open(place, host.O.PATH | host.O.DIRECTORY);
  try {
    host.detachMount(root);
  } catch (error) {
    // Nothing is mounted there.
    if (!host.isErrno(error, "EINVAL")) throw error;
  }
  host.close(root);
  host.rmdir(place);
}

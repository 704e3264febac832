/** The disks of the machine in the guest, and the modules that its devices need. The guest knows a disk by its serial number, which the host has given. */
import { exactJson, parseExactJson } from "../../../shared/text/index.ts";
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import { diskSerial, GUEST } from "../places.ts";
import type { Disk } from "../request.ts";

const BLOCK = "/sys/class/block";
const PAUSE_MS = 20;
/** virtio_blk finds the disks of a machine that boots before its module is there. */
const ATTEMPTS = 250;

export function loadModules(names: readonly string[]): void {
  for (const name of names) {
    for (const path of host.readFile(`${GUEST.modules}/${name}`).split("\n").filter(Boolean)) kernel.insertModule(path);
  }
}

/** The configuration, in which each disk has the numbers that it has in the guest. Makes a link to each. @throws Error: the machine has not got a disk */
export function withDisks(config: string, disks: readonly Disk[]): string {
  if (disks.length === 0) return config;
  host.tryMkdir(GUEST.disks, 0o755);
  const numbers = new Map(disks.map((disk, number) => [`${disk.major}:${disk.minor}`, placed(disk, diskSerial(number))]));
  const spec = parseExactJson(config) as {
    readonly linux?: { readonly devices?: Entry[]; readonly resources?: { readonly devices?: Entry[] } };
  };
  for (const entry of [...(spec.linux?.devices ?? []), ...(spec.linux?.resources?.devices ?? [])]) {
    const found = entry.type === "c" || entry.type === "u" ? undefined : numbers.get(`${entry.major}:${entry.minor}`);
    if (found) Object.assign(entry, found);
  }
  return exactJson(spec);
}

interface Entry {
  readonly type?: string;
  readonly major?: number;
  readonly minor?: number;
}

function placed({ major, minor }: Disk, serial: string): { readonly major: number; readonly minor: number } {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const name = host.readdir(BLOCK).find((each) => serialOf(each) === serial);
    if (name !== undefined) {
      const link = `${GUEST.disks}/${major}:${minor}`;
      if (!host.lstat(link)) host.symlink(`/dev/${name}`, link);
      const [own = 0, part = 0] = host.readFile(`${BLOCK}/${name}/dev`, undefined, true).trim().split(":").map(Number);
      return { major: own, minor: part };
    }
    host.sleep(PAUSE_MS);
  }
  throw new Error(`the machine has no disk ${serial} (${major}:${minor} of the host)`);
}

/** undefined: it is a part of a disk, or none of the machine's. */
function serialOf(name: string): string | undefined {
  try {
    return host.readFile(`${BLOCK}/${name}/serial`, undefined, true).trim();
  } catch (error) {
    if (host.isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

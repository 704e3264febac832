/**
 * Whether KVM boots a guest is known by booting one: the device may be there where it does not (a host that is a virtual machine itself). What came of it
 * is kept until the host's next boot, for these programs.
 */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";
import { JAIL, KNOWN } from "../places.ts";
import type { MachineRequest } from "../request.ts";
import { probeArguments } from "./hypervisor.ts";
import { ENVIRONMENT } from "./machine.ts";

const LIMIT_MS = 2000;
const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** What is known: `runt check` reads it. */
export interface Known {
  readonly key: string;
  readonly accelerator: "tcg" | "kvm";
  /** How long the last machine took from its start to the guest's hello. */
  readonly bootMilliseconds?: number;
}

export class Accelerator {
  /** Of the host, opened while its paths are there. */
  readonly #directory: number;
  readonly #request: MachineRequest;
  #known: Known | undefined;

  constructor(request: MachineRequest) {
    this.#request = request;
    host.tryMkdir(KNOWN.directory, 0o755);
    this.#directory = host.open(KNOWN.directory, host.O.PATH | host.O.DIRECTORY);
  }

  /** In the jail. */
  choose(): "tcg" | "kvm" {
    const { accelerator } = this.#request;
    const key = this.#key();
    const known = this.#read();
    const chosen = accelerator !== "auto" ? accelerator : known?.key === key ? known.accelerator : this.#probe() ? "kvm" : "tcg";
    this.#known = { key, accelerator: chosen };
    return chosen;
  }

  /** A machine has booted. */
  booted(milliseconds: number): void {
    const known = { ...this.#known, bootMilliseconds: Math.round(milliseconds) };
    // What the operator has chosen says nothing about whether the other one works.
    if (this.#request.accelerator === "auto") this.#write(JSON.stringify(known));
    host.close(this.#directory);
  }

  #key(): string {
    const identity = (path: string): string => {
      const found = host.stat(path);
      return [path, found?.dev, found?.ino, found?.size].join();
    };
    const bootId = host.readFile(BOOT_ID, undefined, true).trim();
    return host.sha256([bootId, ...[this.#request.hypervisor, JAIL.kernel, JAIL.initrd].map(identity)].join("\n"));
  }

  /** A guest that says a byte within the limit. */
  #probe(): boolean {
    const nothing = host.open("/dev/null", host.O.RDWR);
    const [ours, theirs] = kernel.streamPair();
    const { hypervisor, user } = this.#request;
    const words = probeArguments(this.#request, theirs);
    const pid = kernel.spawnCompanion(hypervisor, words, ENVIRONMENT, [nothing, nothing, nothing], [theirs], user);
    for (const fd of [nothing, theirs]) host.close(fd);
    const [events = 0] = host.poll([ours], [host.POLL.IN], LIMIT_MS);
    const said = events === 0 ? undefined : kernel.readSome(ours, 1);
    host.kill(pid, host.signalNumber("KILL"));
    host.waitpid(pid, 0);
    host.close(ours);
    return said !== undefined && said.byteLength > 0;
  }

  #read(): Known | undefined {
    try {
      return JSON.parse(host.readFile(this.#file())) as Known;
    } catch (error) {
      if (error instanceof SyntaxError || host.isErrno(error, "ENOENT")) return undefined;
      throw error;
    }
  }

  #write(text: string): void {
    const next = `${this.#file()}.${host.monotonic()}`;
    host.writeFile(next, `${text}\n`, host.O.WRONLY | host.O.CREAT | host.O.EXCL, 0o644);
    host.rename(next, this.#file());
  }

  #file(): string {
    return `/proc/self/fd/${this.#directory}/${KNOWN.file}`;
  }
}

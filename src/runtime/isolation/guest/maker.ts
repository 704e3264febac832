/** Makes containers and processes in the guest by the verbs of this very program, and waits for them without holding up the rest. */
import * as host from "../../host/index.ts";
import type { Opening } from "../channel/index.ts";
import type { Loop } from "../flow/index.ts";
import * as kernel from "../kernel.ts";
import { bringInterfaces } from "../network/guest.ts";
import type { Interface } from "../network/links.ts";
import { GUEST, guestCgroup, guestProcess } from "../places.ts";
import type { Disk } from "../request.ts";
import { killAll, MemoryWatch, makeBelow, removeBelow, signalAll } from "./cgroup.ts";
import { loadModules, withDisks } from "./disks.ts";
import type { Program, Stdio } from "./program.ts";
import { keepMounts, leaveShare, takeShare } from "./share.ts";

const ENVIRONMENT = ["PATH=/"];
/** Of an error that no verb has. */
const FAILED = 1;

export class Maker {
  readonly #loop: Loop;
  /** What comes when a verb has ended. */
  readonly #verbs = new Map<number, (status: number) => void>();
  /** Processes that ended before their verb did, which has written their pid. */
  readonly #endings = new Map<number, number>();
  /** Cgroups of the containers, by their ids. */
  readonly #cgroups = new Map<string, string>();
  #count = 0;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  make(program: Program, opening: Opening): void {
    const directory = `${GUEST.streams}${this.#count++}`;
    host.mkdir(directory, 0o700);
    if (opening.what === "container") this.#container(program, opening, directory);
    else if (opening.what === "exec") this.#exec(program, opening, directory);
    else if (opening.what === "removal") {
      this.#removal(program, opening.id, directory, () => {
        program.started();
        program.ended(0);
      });
    } else this.#plain(program, opening.words);
  }

  /** A process has ended that is no program of a stream. */
  ended(pid: number, status: number): void {
    const verb = this.#verbs.get(pid);
    this.#verbs.delete(pid);
    if (verb) verb(status);
    else this.#endings.set(pid, status);
    // Nobody will ask for them, and their numbers come again.
    if (this.#verbs.size === 0) this.#endings.clear();
  }

  #container(program: Program, opening: Extract<Opening, { readonly what: "container" }>, directory: string): void {
    const { id, interfaces, modules = [], disks = [], shared, temporary } = opening;
    if (temporary) program.over = () => this.#removal(program, id, directory);
    loadModules(modules);
    const config = withDisks(opening.config, disks as readonly Disk[]);
    const bundle = shared === undefined ? GUEST.bundle : directory;
    host.tryMkdir(bundle, 0o755);
    host.writeFile(`${bundle}/config.json`, config, host.O.WRONLY | host.O.CREAT | host.O.TRUNC, 0o600);
    if (shared !== undefined) takeShare(id, shared);
    const words = ["create", "--bundle", bundle, ...this.#files(program, directory), id];
    // The host hears nothing of it before its program may run, so what went wrong is told by its message alone.
    program.hold();
    this.#verb(program, directory, words, program.terminal ? undefined : program.makePipes(), false, () => {
      const cgroup = guestCgroup(shared === undefined ? undefined : id);
      this.#cgroups.set(id, cgroup);
      program.killAll = () => killAll(cgroup);
      program.signalRest = (number, isLeftOut) => signalAll(cgroup, number, isLeftOut);
      const pid = this.#take(program, directory);
      keepMounts(id, pid);
      const name = guestProcess(shared === undefined ? undefined : id);
      removeLink(name);
      host.symlink(`/proc/${pid}`, name);
      try {
        bringInterfaces(pid, interfaces as readonly Interface[]);
      } catch (error) {
        host.kill(pid, host.signalNumber("KILL"));
        return program.failed({ message: `runt: ${(error as Error).message}`, status: FAILED, shown: false });
      }
      program.created(() =>
        this.#verb(program, directory, ["start", id], undefined, false, () => {
          program.started();
          program.memory = new MemoryWatch(this.#loop, cgroup, () => program.outOfMemory());
        }),
      );
    });
  }

  #exec(program: Program, opening: Extract<Opening, { readonly what: "exec" }>, directory: string): void {
    const { id, flags, args, process } = opening;
    const document = process === undefined ? [] : ["--process", `${directory}/process.json`];
    if (process !== undefined) host.writeFile(document[1]!, process, host.O.WRONLY | host.O.CREAT | host.O.EXCL, 0o600);
    const group = this.#groupOf(program, id);
    const words = ["exec", "--detach", ...flags, ...group, ...document, ...this.#files(program, directory), id, ...args];
    this.#verb(program, directory, words, program.terminal ? undefined : program.makePipes(), !program.terminal, () => {
      this.#take(program, directory);
      program.started();
    });
  }

  /** A cgroup of its own below the container's, by which SIGKILL reaches what it has started, too. Returns its flags. */
  #groupOf(program: Program, id: string): string[] {
    const container = this.#cgroups.get(id);
    if (container === undefined) return [];
    const name = `/exec-${this.#count}`;
    const cgroup = `${container}${name}`;
    makeBelow(cgroup);
    program.killAll = () => killAll(cgroup);
    program.over = () => removeBelow(cgroup);
    return ["--cgroup", name];
  }

  /** What is left of a container that has joined. */
  #removal(program: Program, id: string, directory: string, done: () => void = () => {}): void {
    this.#cgroups.delete(id);
    this.#verb(program, directory, ["delete", "--force", id], undefined, false, () => leaveShare(this.#loop, id, done));
  }

  /** A verb that is the program of its stream itself. */
  #plain(program: Program, words: readonly string[]): void {
    const { stdin, stdout, stderr } = program.makePipes();
    const argv = [GUEST.runt, "--root", GUEST.state, ...words];
    program.begin(kernel.spawnCompanion(GUEST.runt, argv, ENVIRONMENT, [stdin, stdout, stderr], []));
    for (const fd of [stdin, stdout, stderr]) host.close(fd);
    program.started();
  }

  /** Flags that say where pid and terminal go. */
  #files(program: Program, directory: string): string[] {
    const pidFile = ["--pid-file", `${directory}/pid`];
    if (!program.terminal) return pidFile;
    const path = `${directory}/console`;
    const listener = kernel.listen(path);
    const watched = {
      fd: listener,
      wants: () => host.POLL.IN,
      ready: () => {
        const connection = kernel.accept(listener);
        const packet = host.receivePacket(connection);
        const master = packet?.fds[0];
        if (master !== undefined) program.takeTerminal(master);
        this.#loop.remove(watched);
        host.close(connection);
        host.close(listener);
      },
    };
    this.#loop.add(watched);
    return [...pidFile, "--console-socket", path];
  }

  /** Returns its pid. */
  #take(program: Program, directory: string): number {
    const pid = Number(host.readFile(`${directory}/pid`));
    program.begin(pid);
    const status = this.#endings.get(pid);
    this.#endings.delete(pid);
    if (status !== undefined) program.ended(status);
    return pid;
  }

  /** `given`: what the program is connected with, unless it is already, or will be by its terminal. `shown`: what the verb says goes there, too. */
  #verb(program: Program, directory: string, words: readonly string[], given: Stdio | undefined, shown: boolean, next: () => void): void {
    const log = `${directory}/log`;
    const nothing = host.open("/dev/null", host.O.RDWR);
    const stdio = given ?? { stdin: nothing, stdout: nothing, stderr: nothing };
    const argv = [GUEST.runt, "--root", GUEST.state, "--log", log, "--log-format", "json", ...words];
    const pid = kernel.spawnCompanion(GUEST.runt, argv, ENVIRONMENT, [stdio.stdin, stdio.stdout, stdio.stderr], []);
    for (const fd of new Set([nothing, ...Object.values(stdio)])) host.close(fd);
    this.#verbs.set(pid, (status) => {
      if (status === 0) return next();
      program.failed({ message: messageOf(log, words[0]!), status: status > 0 && status < 256 ? status : FAILED, shown });
    });
  }
}

/** Of an earlier container with this id. */
function removeLink(path: string): void {
  if (host.lstat(path)) host.unlink(path);
}

/** What the verb has written to its log, one JSON object a line. */
function messageOf(log: string, verb: string): string {
  try {
    const line = host
      .readFile(log)
      .split("\n")
      .find((each) => each.includes('"level":"error"'));
    return String((JSON.parse(line ?? "") as { readonly msg: unknown }).msg);
  } catch {
    return `${verb} has failed in the guest`;
  }
}

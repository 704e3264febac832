/** Sends sd_notify(3) messages to systemd. The runt executable sends them in a child process, because Node has no unix datagram sockets. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { log } from "./log.ts";

/** In milliseconds; longer than runt waits for an answer. */
const TIMEOUT_MS = 40_000;
/**
 * Shell script of the child process. It reads the path of runt, and then one message a line, whose assignments are separated by tabs. For each it
 * prints the exit status of runt. It ends if its parent ends.
 */
const MESSENGER =
  'read -r runt || exit 0; set -f; IFS="\t"; while read -r message; do "$runt" service notify $message </dev/null; echo $?; done';

/**
 * systemd identifies the processes of a service by their cgroup, and the engine moves this process to another one. Therefore one child process is
 * started first, stays in the cgroup of the service, and sends all messages. Without NOTIFY_SOCKET, nothing is started and nothing is sent. Failures
 * are logged. runProgram (src/node) is not used, because its time limit would begin with the start of the program.
 */
export class ServiceManager {
  readonly #messenger: ChildProcess | undefined;
  readonly #waiting: ((failure: string | undefined) => void)[] = [];
  #watchdog: NodeJS.Timeout | undefined;

  constructor() {
    if (!process.env["NOTIFY_SOCKET"]) return;
    const messenger = spawn("/bin/sh", ["-c", MESSENGER], { stdio: ["pipe", "pipe", "ignore"] });
    this.#messenger = messenger;
    messenger.once("error", (error) => this.#end(error.message));
    messenger.once("exit", (code, signal) => this.#end(`the messenger has ended: ${signal ?? code}`));
    // This error means that the child process has ended, which the handler above reports.
    messenger.stdin!.on("error", () => {});
    createInterface({ input: messenger.stdout! }).on("line", (status) =>
      this.#waiting.shift()?.(status === "0" ? undefined : `runt service notify: ${status}`),
    );
    messenger.unref();
  }

  /** Tells that the daemon answers, and from then on that it still does, if systemd asks for that (WatchdogSec=). @param runtime path of runt */
  async ready(runtime: string): Promise<void> {
    this.#write(runtime);
    await this.#send("READY=1", `MAINPID=${process.pid}`);
    const everyMs = watchdogMs();
    if (everyMs !== undefined) this.#watchdog = setInterval(() => void this.#send("WATCHDOG=1"), everyMs).unref();
  }

  /** Tells that the daemon ends. The caller may end at once. */
  stopping(): void {
    clearInterval(this.#watchdog);
    this.#write("STOPPING=1");
  }

  async #send(...assignments: readonly string[]): Promise<void> {
    if (this.#messenger === undefined) return;
    // A messenger that hangs gets no further message.
    if (this.#waiting.length > 0) return;
    const ended = new Promise<string | undefined>((resolve) => this.#waiting.push(resolve));
    this.#write(assignments.join("\t"));
    const timer = setTimeout(() => this.#messenger?.kill("SIGKILL"), TIMEOUT_MS);
    const failure = await ended;
    clearTimeout(timer);
    if (failure !== undefined) log("error", "manager-not-told", { message: failure });
  }

  #write(line: string): void {
    const { stdin } = this.#messenger ?? {};
    if (stdin?.writable) stdin.write(`${line}\n`);
  }

  #end(why: string): void {
    clearInterval(this.#watchdog);
    for (const tell of this.#waiting.splice(0)) tell(why);
  }
}

/** Half of the time after which systemd ends a service that is silent. undefined: systemd does not ask. Source: sd_watchdog_enabled(3) */
function watchdogMs(): number | undefined {
  const { WATCHDOG_USEC, WATCHDOG_PID } = process.env;
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(process.pid)) return undefined;
  const us = Number(WATCHDOG_USEC);
  return WATCHDOG_USEC !== undefined && us > 0 ? Math.max(1, Math.floor(us / 2000)) : undefined;
}

/** Sends sd_notify(3) messages to systemd. The runt executable sends them in a child process, because Node has no unix datagram sockets. */
import { spawn } from "node:child_process";
import { log } from "./log.ts";

/** In milliseconds; longer than runt waits for an answer. */
const TIMEOUT_MS = 40_000;
/** Shell script of the child process: it waits for the path of runt on stdin, and ends if its parent ends. */
const WHEN_TOLD = 'read -r runt && exec "$runt" "$@"';

/**
 * systemd identifies the processes of a service by their cgroup, and the engine moves this process to another one. Therefore the child process is
 * started first, and waits in the cgroup of the service. Returns a function that takes the path of the runt executable and sends the message. Does
 * nothing without NOTIFY_SOCKET; failures are logged. runProgram (src/node) is not used, because its time limit would begin with the start of the
 * program.
 */
export function managerMessage(assignments: readonly string[]): (runtime: string) => Promise<void> {
  if (!process.env["NOTIFY_SOCKET"]) return () => Promise.resolve();
  const words = ["service", "notify", ...assignments];
  const messenger = spawn("/bin/sh", ["-c", WHEN_TOLD, "sh", ...words], { stdio: ["pipe", "ignore", "ignore"] });
  const ended = new Promise<void>((resolve) => {
    const fail = (message: string) => {
      log("error", "manager-not-told", { message });
      resolve();
    };
    messenger.once("error", (error) => fail(error.message));
    messenger.once("exit", (code, signal) => (code === 0 ? resolve() : fail(`runt service notify: ${signal ?? code}`)));
  });
  // This error means that the child process has ended, which the handler above logs.
  messenger.stdin.on("error", () => {});
  return (runtime) => {
    messenger.stdin.end(`${runtime}\n`);
    const timer = setTimeout(() => messenger.kill("SIGKILL"), TIMEOUT_MS);
    return ended.finally(() => clearTimeout(timer));
  };
}

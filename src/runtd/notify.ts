/** Sends sd_notify(3) messages to systemd. A child process of the program runt sends them, because Node has no unix datagrams. */
import { spawn } from "node:child_process";
import { log } from "./log.ts";

/** Longer than runt waits for an answer. */
const TIMEOUT_MS = 40_000;
/** Script of the messenger: it waits for the path of the program, or ends with its parent. */
const WHEN_TOLD = 'read -r runt && exec "$runt" "$@"';

/**
 * systemd identifies the processes of a service by their cgroup, and the engine moves this process to another one. So the messenger is started first, and waits
 * in the service's cgroup. Returns the function that sends the message with the program runt at a path. Without NOTIFY_SOCKET it does nothing; failures are logged.
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
  // The messenger has ended. The handler above logs that.
  messenger.stdin.on("error", () => {});
  return (runtime) => {
    messenger.stdin.end(`${runtime}\n`);
    const timer = setTimeout(() => messenger.kill("SIGKILL"), TIMEOUT_MS);
    return ended.finally(() => clearTimeout(timer));
  };
}

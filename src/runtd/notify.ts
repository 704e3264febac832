/** systemd is told by runt: Node has no unix datagrams. */
import { spawn } from "node:child_process";
import { log } from "./log.ts";

const TIMEOUT_MS = 10_000;
/** Goes on when it is told the program; when whoever would tell it has ended, it ends as well. */
const WHEN_TOLD = 'read -r runt && exec "$runt" "$@"';

/**
 * systemd knows a service's processes by their cgroup, and the engine takes this process out of it: the messenger is started before, and waits there. Returns how to
 * send its message by the program runt at this path. Without NOTIFY_SOCKET nothing is done; what goes wrong is logged. sd_notify(3)
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
  // It has ended: that is told above.
  messenger.stdin.on("error", () => {});
  return (runtime) => {
    messenger.stdin.end(`${runtime}\n`);
    const timer = setTimeout(() => messenger.kill("SIGKILL"), TIMEOUT_MS);
    return ended.finally(() => clearTimeout(timer));
  };
}

/** systemd is told by runt: Node has no unix datagrams. */
import { execFile } from "node:child_process";
import { factsOf, log } from "./log.ts";

const TIMEOUT_MS = 10_000;

/** Does nothing without NOTIFY_SOCKET; what goes wrong is logged. sd_notify(3) */
export function notifyManager(runtime: string, assignments: readonly string[]): Promise<void> {
  if (!process.env["NOTIFY_SOCKET"]) return Promise.resolve();
  return new Promise((resolve) => {
    execFile(runtime, ["service", "notify", ...assignments], { timeout: TIMEOUT_MS }, (error) => {
      if (error) log("error", "manager-not-told", factsOf(error));
      resolve();
    });
  });
}

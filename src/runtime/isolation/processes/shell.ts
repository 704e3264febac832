/**
 * Begins a shell in the guest, beside its containers and with all rights of the guest's root, on behalf of `machine exec-shell`. It is a temporary
 * container there, whose root has nothing but the shell. Another process of the host goes on with it.
 */
import * as host from "../../host/index.ts";
import { fromEnvironment, type ShellRequest } from "../request.ts";
import { ask } from "./ask.ts";
import { SharedDirectory } from "./shared-directory.ts";

const BROKEN = 125;

export function beginShell(): never {
  const { name, id, config, terminal, program, pid, startTime, seconds } = fromEnvironment(host.getenv) as ShellRequest;
  const fail = (message: string, status: number): never => {
    host.write(2, message);
    return host.exit(status);
  };
  const directory = new SharedDirectory(`/proc/${pid}`);
  // The mount namespace is held: if the monitor still runs, it is the monitor's.
  if (host.runningState(pid, startTime) === undefined) return fail("the machine has ended", BROKEN);
  const shared = directory.addShell(program);
  const opening = { what: "container", id, config, interfaces: [], shared, temporary: true, terminal } as const;
  return ask(directory.socket, "make", opening, seconds, {
    keep: { at: "created", name },
    ended: (status) => fail(`the shell has ended with status ${status}`, BROKEN),
    failed: ({ message, status }) => fail(message, status),
    silent: () => fail(`the machine has not begun the shell after ${seconds} seconds, or has ended`, BROKEN),
  });
}

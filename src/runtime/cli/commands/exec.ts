import { RuntError } from "../../errors/index.ts";
import { exec } from "../../verbs/index.ts";
import { absolutePath, text, texts, type Verb } from "../context.ts";
import { parseDuration } from "../duration.ts";

export const verb: Verb = ({ options, positionals, flags, warned }) => {
  const [id, ...args] = positionals as [string, ...string[]];
  const [processFile, cwd, user] = [text(flags["process"]), text(flags["cwd"]), text(flags["user"])];
  const [consoleSocket, pidFile, pidfdSocket] = [text(flags["console-socket"]), text(flags["pid-file"]), text(flags["pidfd-socket"])];
  const [apparmorProfile, selinuxLabel] = [text(flags["apparmor"]), text(flags["process-label"])];
  const [timeout, consoleSize, resizeFifo] = [text(flags["timeout"]), text(flags["console-size"]), text(flags["resize-fifo"])];
  const request = {
    id,
    args,
    env: texts(flags["env"]),
    additionalGids: texts(flags["additional-gids"]),
    capabilities: texts(flags["cap"]),
    cgroups: texts(flags["cgroup"]),
    noNewPrivileges: flags["no-new-privs"] === true,
    terminal: flags["tty"] === true,
    detach: flags["detach"] === true,
    ignorePaused: flags["ignore-paused"] === true,
    preserveFds: typeof flags["preserve-fds"] === "number" ? flags["preserve-fds"] : 0,
    ...(timeout !== undefined && { timeout: bound(timeout) }),
    ...(processFile && { processFile }),
    ...(cwd && { cwd }),
    ...(user && { user }),
    ...(apparmorProfile && { apparmorProfile }),
    ...(selinuxLabel && { selinuxLabel }),
    ...(consoleSocket && { consoleSocket: absolutePath(consoleSocket) }),
    ...(consoleSize !== undefined && { consoleSize }),
    ...(resizeFifo !== undefined && { resizeFifo: absolutePath(resizeFifo) }),
    ...(pidFile && { pidFile: absolutePath(pidFile) }),
    ...(pidfdSocket && { pidfdSocket: absolutePath(pidfdSocket) }),
  };
  exec(options, request, ({ made }) => warned(made));
  return 0;
};

function bound(value: string): { readonly milliseconds: number; readonly text: string } {
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined || milliseconds <= 0) {
    throw new RuntError("usage", `invalid value "${value}" for flag -timeout: use a duration above 0, as 500ms, 5s or 1m30s`);
  }
  return { milliseconds, text: value };
}

/** What the helper reports, in the words that people and engines expect. */
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { type Op, type Plan, RLIMIT } from "../plan/index.ts";
import type { Execution } from "./execute.ts";

/** init stands in the user namespace already when it goes there. */
const UNREACHABLE = "every directory above it must be searchable for the container's root user";
const PREFIX = "unable to start container process: ";

export const helperError = {
  reported(plan: Plan, message: host.Message): RuntError {
    const op = plan.ops[message.op];
    const errno = Math.abs(message.errno);
    const details = { ...(op && op.from !== "" ? { pointer: op.from } : {}) };
    if (op?.op === "process.program" || op?.op === "process.exec") {
      return new RuntError("operation", PREFIX + programText(op, message.path, errno), details);
    }
    if (op?.op === "process.rlimit") {
      const { resource, soft, hard } = op.args;
      return new RuntError(
        "operation",
        `${PREFIX}error setting ${rlimitName(resource)} to soft ${soft}, hard ${hard}: ${host.strerror(errno)}`,
        details,
      );
    }
    const path = message.path === "" ? "" : ` ${JSON.stringify(message.path)}`;
    const cause = [message.text, errno === 0 ? "" : host.strerror(errno)].filter((part) => part !== "").join(": ");
    const hint = op?.op === "root.open" && host.errnoName(errno) === "EACCES" ? { hint: UNREACHABLE } : {};
    return new RuntError("operation", `${PREFIX}error during container init: ${op?.op ?? "helper"}${path}: ${cause}`, {
      ...details,
      ...hint,
    });
  },

  /** The socket ended without a word: init was killed, most often by its own memory limit. */
  died({ plan }: Execution): RuntError {
    const limited = plan.ops.some(
      ({ op, args }) => op === "cgroup.write" && /\/memory\.(max|limit_in_bytes)$/.test((args as { path: string }).path),
    );
    return new RuntError("operation", `${PREFIX}container init died before it was ready${limited ? " (memory limit too low?)" : ""}`);
  },
};

/** Go's os/exec words, which Docker and Podman turn into exit statuses 126 and 127. */
function programText(op: Op<"process.program"> | Op<"process.exec">, path: string, errno: number): string {
  const name = op.op === "process.program" ? op.args.name : (op.args.args[0] ?? path);
  const code = host.errnoName(errno);
  if (code === "ENOENT")
    return name.includes("/") ? `exec: "${name}": stat ${name}: no such file or directory` : `exec: "${name}": ${WORDS.executableNotFound}`;
  return `exec: "${name}": ${host.strerror(errno)}`;
}

function rlimitName(resource: number): string {
  return Object.entries(RLIMIT).find(([, number]) => number === resource)?.[0] ?? `rlimit ${resource}`;
}

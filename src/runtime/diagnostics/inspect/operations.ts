/** In which operations a container's creation is: read from the memory that its runtime shares. */

import { OPS, type OpDefinition, PAGE_WORD, PAGE_WORDS_SHOWN, PLAN_NAME, PROGRESS_NAME } from "../../../shared/protocol/index.ts";
import * as host from "../../host/index.ts";
import { type DecodedOp, decodePlan, describeOperation, type Op } from "../../plan/index.ts";
import { names } from "../../prepare/index.ts";
import { holdersOf } from "../../state/index.ts";

export interface CurrentOperation {
  readonly actor: "runtime" | "intermediate" | "init";
  readonly pid: number;
  /** As `runt plan` numbers it. */
  readonly number: number;
  readonly op: string;
  readonly description?: string;
}

/** @param directory of the container's state, which its runtime has locked */
export function currentOperations(directory: string): CurrentOperation[] {
  for (const pid of holdersOf(directory)) {
    const page = readMemory(pid, PROGRESS_NAME, PAGE_WORDS_SHOWN * 4);
    if (page && page.byteLength >= PAGE_WORDS_SHOWN * 4)
      return describe(pid, new Uint32Array(page), readMemory(pid, PLAN_NAME, 0x7fff_ffff));
  }
  return [];
}

/** A memfd of this name that the process has open; undefined when it has none, or is not the caller's to look into. */
function readMemory(pid: number, name: string, most: number): ArrayBuffer | undefined {
  for (const fd of names(`/proc/${pid}/fd`)) {
    const path = `/proc/${pid}/fd/${fd}`;
    try {
      if (!host.readlink(path).startsWith(`/memfd:${name}`)) continue;
      const opened = host.open(path, host.O.RDONLY);
      try {
        return readAll(opened, most);
      } finally {
        host.close(opened);
      }
    } catch (error) {
      if (!host.isErrno(error, "ENOENT", "EACCES", "EPERM", "ESRCH", "ENXIO")) throw error;
    }
  }
  return undefined;
}

const CHUNK = 1 << 20;

function readAll(fd: number, most: number): ArrayBuffer {
  const size = Math.min(host.fstat(fd).size, most);
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; ) {
    const part = new Uint8Array(host.pread(fd, at, Math.min(CHUNK, size - at)));
    if (part.byteLength === 0) break;
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes.buffer;
}

function describe(runtime: number, words: Uint32Array, plan: ArrayBuffer | undefined): CurrentOperation[] {
  const ops = new Map((plan ? decodePlan(plan, host.utf8Decode) : []).map((op) => [op.index, op]));
  const word = (at: number): number => words[at] ?? 0;
  const own = (Object.entries(OPS) as [string, OpDefinition][]).find(([, { id }]) => id === word(PAGE_WORD.runtimeOperation))?.[0];
  const rows: CurrentOperation[] = [];
  if (own !== undefined) rows.push({ actor: "runtime", pid: runtime, number: word(PAGE_WORD.runtime), op: own });
  // The intermediate has ended once init is known.
  const helper = word(PAGE_WORD.initPid) === 0 ? ({ actor: "intermediate", pid: word(PAGE_WORD.helperPid) } as const) : undefined;
  for (const { actor, pid, at } of [
    ...(helper ? [{ ...helper, at: PAGE_WORD.intermediate }] : []),
    { actor: "init", pid: word(PAGE_WORD.initPid), at: PAGE_WORD.init } as const,
  ]) {
    const op = ops.get(word(at) - 1);
    if (word(at) > 0 && op) rows.push({ actor, pid, number: op.index + 1, op: op.op, ...text(op) });
  }
  return rows;
}

function text(decoded: DecodedOp): { readonly description?: string } {
  const description = describeOperation(decoded as unknown as Op);
  return description === "" ? {} : { description };
}

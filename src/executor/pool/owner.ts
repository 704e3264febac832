/** STATEDIR/pool.json: which process has a pool. Told by pid, start time and boot. */
import { linkSync, renameSync } from "node:fs";
import { join } from "node:path";
import { removeOwnFile, writeOwnFile } from "../../node/index.ts";
import { ExecutorError } from "../errors.ts";
import { isAlive, type ProcessIdentity, processStat, thisBoot } from "../process/procfs.ts";
import { isProcess, parseState, readStateFile } from "../record.ts";

/** Returns how to give it back. @throws ExecutorError wrong-state: a process that lives has it */
export function own(stateDir: string): () => void {
  const path = join(stateDir, "pool.json");
  const making = `${path}.${process.pid}`;
  const text = JSON.stringify({ pid: process.pid, startTicks: processStat(process.pid)?.startTicks ?? "0", bootId: thisBoot() });
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    writeOwnFile(making, text);
    try {
      linkSync(making, path);
      return () => {
        if (readStateFile(path) === text) removeOwnFile(path);
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      removeOwnFile(making);
    }
    takeAway(path);
  }
  throw new ExecutorError("wrong-state", `${path}: others take it at the same time`);
}

const ATTEMPTS = 10;

/** That of a dead process: moved aside first, for another one may have replaced it meanwhile, which gets it back. */
function takeAway(path: string): void {
  refuseLiving(path);
  const aside = `${path}.old.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  try {
    refuseLiving(aside);
  } catch (error) {
    linkSync(aside, path);
    throw error;
  } finally {
    removeOwnFile(aside);
  }
}

function refuseLiving(path: string): void {
  const text = readStateFile(path);
  if (text === undefined) return;
  const owner = parseState<ProcessIdentity>(path, text, isProcess);
  if (isAlive(owner)) throw new ExecutorError("wrong-state", `${path}: process ${owner.pid} has this pool`, { pid: owner.pid });
}

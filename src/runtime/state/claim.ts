/** ROOT/ID/claim.json: what `start`, or the library, has made of a container whose process is given at start (io.runt.template). */
import { CLAIM_FILE, CLAIM_SCHEMA, type Claim, type ClaimRecord, claimRecord, TEMPLATE } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { writeNew } from "./own.ts";
import type { StateRecord } from "./record.ts";
import { containerDirectory } from "./store.ts";

/** Makes the file with link(2): of all callers, those without the lock among them, one alone has the container. @throws RuntError wrong-status */
export function publishClaim(directory: string, claim: Claim): void {
  const { seconds, nanoseconds } = host.now();
  const path = `${directory}/${CLAIM_FILE}`;
  const made = `${path}.${host.getpid()}`;
  writeNew(made, JSON.stringify(claimRecord(claim, seconds * 1000 + Math.floor(nanoseconds / 1_000_000))));
  try {
    host.link(made, path);
  } catch (error) {
    if (!host.isErrno(error, "EEXIST")) throw error;
    throw new RuntError("wrong-status", "the container was given its process by another start, which has not come to its end", {
      hint: "delete it: a container is started once",
    });
  } finally {
    host.unlink(made);
  }
}

const LIMIT = 64 << 20;

/** undefined: it was not started, or is no template. @throws RuntError state-unreadable */
export function readClaim(root: string, { id, annotations }: Pick<StateRecord, "id" | "annotations">): ClaimRecord | undefined {
  if (annotations[TEMPLATE] === undefined) return undefined;
  const path = `${containerDirectory(root, id)}/${CLAIM_FILE}`;
  if (!host.lstat(path)) return undefined;
  let claim: Partial<ClaimRecord> | null;
  try {
    claim = JSON.parse(host.readOwn(path, LIMIT));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new RuntError("state-unreadable", `${path}: not JSON`, { cause });
  }
  if (claim?.schema !== CLAIM_SCHEMA || !Array.isArray(claim.args) || !Array.isArray(claim.env) || typeof claim.cwd !== "string")
    throw new RuntError("state-unreadable", `${path}: fields are missing`);
  return claim as ClaimRecord;
}

/** The record as `exec` goes by it: with the environment and the directory of what was started. @throws RuntError state-unreadable */
export function asStarted(root: string, record: StateRecord): StateRecord {
  const claim = readClaim(root, record);
  if (!claim) return record;
  return { ...record, exec: { ...record.exec, process: { ...record.exec.process, env: claim.env, cwd: claim.cwd } } };
}

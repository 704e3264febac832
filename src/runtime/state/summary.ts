/** What `state` and `list` need of a record, without parsing all of it: a list reads thousands. */
import { SUMMARY_MEMBERS } from "../../shared/protocol/index.ts";
import * as host from "../host/index.ts";
import { type AnyRecord, STATE_MINOR, STATE_SCHEMA, type StateRecord, type StateSummary } from "./record.ts";
import { readWith, recordAt, refuseMoved } from "./store.ts";

/** As readRecord, where nothing but the summary is used. */
export function readSummary(root: string, id: string): StateSummary {
  return readWith((path) => (peek(path) as AnyRecord | undefined) ?? recordAt(path), root, id, false);
}

const TARGET_MEMBERS = `${SUMMARY_MEMBERS} privatePid directory machine`;

/** The same with what decides whom a signal to the container is for. */
export function readTarget(root: string, id: string): StateSummary & Pick<StateRecord, "privatePid" | "directory" | "machine"> {
  const read = (path: string) => (peek(path, undefined, undefined, TARGET_MEMBERS) as AnyRecord | undefined) ?? recordAt(path);
  return refuseMoved(root, readWith(read, root, id, false));
}

/**
 * The summary of a sound record of this build, or of a newer one of its schema; undefined when there is more to say: readSummary says it.
 * `directory`: a descriptor of that which the path is relative to. `former`: one that is not used any more.
 * @throws HostError
 */
export function peek(path: string, directory?: number, former?: StateSummary, members = SUMMARY_MEMBERS): StateSummary | undefined {
  const found = host.readMembers(path, members, directory, former) as Partial<StateRecord> | undefined;
  const minor = found?.minor as number;
  return found !== undefined &&
    found.schema === STATE_SCHEMA &&
    // An integer of 32 bits, without a call.
    (minor | 0) === minor &&
    minor >= STATE_MINOR &&
    typeof found.id === "string" &&
    typeof found.pid === "number" &&
    typeof found.startTime === "string" &&
    typeof found.bundle === "string" &&
    typeof found.annotations === "object" &&
    found.annotations !== null &&
    (found.cgroup === undefined || Array.isArray(found.cgroup?.paths))
    ? (found as StateSummary)
    : undefined;
}

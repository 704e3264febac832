/** Makes a user namespace that exists independently of any process, because it is bound to a file. */
import { writeFileSync } from "node:fs";
import { outputOf } from "../../node/index.ts";
import { whileHeld } from "../network/index.ts";

/** In it, ids from 0 on are those of the host from `first` on. */
export interface UserMap {
  readonly first: number;
  readonly count: number;
}

const TIMEOUT_MS = 30_000;

/** @param file an empty file. @throws NetworkError: the message of unshare(1); the error of write(2), or of mount(8) */
export async function pinUsers(file: string, { first, count }: UserMap): Promise<void> {
  await whileHeld(["unshare", "--user"], TIMEOUT_MS, async (pid) => {
    // The map has to be written from outside, by one call, and counts from then on.
    for (const name of ["uid_map", "gid_map"]) writeFileSync(`/proc/${pid}/${name}`, `0 ${first} ${count}\n`);
    await outputOf("mount", ["--bind", `/proc/${pid}/ns/user`, file]);
  });
}

/** Attacks on the claim of a container that waits: it is stopped, killed, taken twice, or its taker dies at any byte of the message. Each wait has an end. */
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Pool, sandbox } from "../../src/executor/index.ts";
import { handOver } from "../../src/executor/pool/claim.ts";
import { CLAIM_FILE, packClaim, START_FIFO } from "../../src/shared/protocol/index.ts";
import { isRoot, RUNT, useExecutors } from "./support.ts";

describe.skipIf(!isRoot)("the claim of a container that waits (needs root)", () => {
  const { directory, rootfs } = useExecutors();
  const claim = { args: ["/bin/sleep", "1000"], env: ["PATH=/bin"], cwd: "/", files: [{ path: "/tmp/given", mode: 0o600, bytes: 5 }] };
  const given = { claim, contents: [Buffer.from("given")], deadlineMs: 0 };
  /** Bytes that are sent of the message and the file behind it. */
  const whole = Buffer.concat([packClaim(claim), ...given.contents]);
  const cuts = [0, 1, 13, whole.length >> 1, whole.length - 1];

  test("one taker alone has it; a stopped or killed one is given up in time, and one whose taker died never runs", async () => {
    const options = { template: sandbox({ rootfs: rootfs() }), stateDir: join(directory, "claims"), binary: RUNT };
    const pool = await Pool.open({ ...options, size: cuts.length + 3 });
    await expect.poll(() => pool.stats().parked, { timeout: 60_000 }).toBe(cuts.length + 3);
    const boxes = join(options.stateDir, "boxes");
    const [twice, stopped, killed, ...cut] = readdirSync(boxes).filter((name) => name.startsWith("b-")) as [
      string,
      string,
      string,
      ...string[],
    ];
    const state = (id: string) => join(boxes, "@runtime", id);
    const taken = (id: string) =>
      handOver({ ...given, id, directory: state(id), deadline: join(boxes, id, "deadline"), boundMs: 500 }).then(
        () => "runs",
        ({ code }: { code: string }) => code,
      );
    const pidOf = (id: string): number => JSON.parse(readFileSync(join(boxes, id, "record.json"), "utf8")).pid;
    const program = (id: string) => readFileSync(`/proc/${pidOf(id)}/cmdline`, "utf8");

    expect((await Promise.all([taken(twice), taken(twice), taken(twice)])).sort()).toEqual(["runs", "wrong-state", "wrong-state"]);
    expect(program(twice)).toContain("sleep");

    process.kill(pidOf(stopped), "SIGSTOP");
    expect(await taken(stopped)).toBe("launch-failed");
    expect(await taken(stopped)).toBe("wrong-state");
    // It is killed while the message waits to be read.
    process.kill(pidOf(killed), "SIGSTOP");
    const unread = taken(killed);
    process.kill(pidOf(killed), "SIGKILL");
    expect(await unread).toBe("wrong-state");
    await expect.poll(() => taken(killed)).toBe("wrong-state");

    for (const [number, id] of cut.entries()) {
      const fd = openSync(join(state(id), START_FIFO), constants.O_WRONLY | constants.O_NONBLOCK);
      writeFileSync(join(state(id), CLAIM_FILE), "{}", { mode: 0o600 });
      writeSync(fd, whole, 0, cuts[number]);
      closeSync(fd);
      expect(await taken(id), `after ${cuts[number]} bytes`).toBe("wrong-state");
    }
    // The next callers get other ones, and the pool that is opened next ends all of these.
    expect((await pool.run({ cmd: "/bin/echo", args: ["other"] })).stdout.toString()).toBe("other\n");
    for (const id of cut) if (existsSync(state(id))) expect(program(id)).not.toContain("sleep");
    await pool.close();
    expect(readdirSync(boxes).filter((name) => !name.startsWith("@"))).toEqual([]);
  });
});

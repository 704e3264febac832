/** A systemd whose socket takes whatever comes and answers nothing: verbs end after one time limit, however often they would ask. */
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AT_ONCE_MS, useBackground } from "../support/background.ts";
import { listenDirectly, type Service } from "../support/bus-service.ts";
import { isUnified } from "../support/cgroups.ts";
import { type FakeSystemd, fakeSystemd } from "../support/fake-systemd.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

/** Of src/runtime/cgroup/systemd/driver/connection.ts. */
const ANSWER_MS = 30_000;

describe.skipIf(!isRoot || !isRunt)("a systemd that does not answer (needs root)", () => {
  const harness = useHarness();
  const { bundle, directory, id, root } = harness;
  const { begin, exists } = useBackground(harness);
  const [working, mute, stalling] = ["working", "mute", "stalling"].map((name) => join(directory, name)) as [string, string, string];
  let systemd: FakeSystemd;
  let services: Service[] = [];
  let server: Server;
  let isSilent = false;

  beforeAll(async () => {
    systemd = fakeSystemd(isUnified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/systemd", `${CGROUP_PARENT}-silent`);
    const never = new Promise<never>(() => {});
    services = [
      await listenDirectly(working, (call) => (isSilent ? never : systemd.answer(call))),
      // It says who it is, and then has no time for units.
      await listenDirectly(stalling, (call) => (call.member.endsWith("Unit") ? never : systemd.answer(call))),
    ];
    server = createServer(() => {});
    await new Promise<void>((done) => server.listen(mute, done));
  });
  afterAll(() => {
    for (const service of services) service.close();
    server.close();
    systemd.clear();
  });

  /** systemd's own socket is this one. */
  const verb = (socket: string, words: readonly string[]) => {
    const booted =
      'mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && touch /run/systemd/private && mount --bind $0 /run/systemd/private && exec "$@"';
    const unshared = ["unshare", "--mount", "--propagation", "private", "sh", "-c", booted, socket];
    return begin(words, [...unshared, RUNTIME, "--root", root, "--systemd-cgroup"]);
  };
  const prepared = (name: string) =>
    bundle((config) => {
      // The verb has ended when its stderr has.
      shell(config, "exec sleep 1000 2>/dev/null");
      config.linux.cgroupsPath = `:test:${name}`;
      config.linux.resources = {};
    });

  test("create and delete --force end, TERM ends create at once", async () => {
    const [made, refused, undone, stopped] = [id(), id(), id(), id()];
    expect(await verb(working, ["run", "-d", "-b", prepared(made), made]).ended).toMatchObject({ status: 0, stderr: "" });
    isSilent = true;
    const deleting = verb(working, ["delete", "--force", made]);
    const creating = verb(mute, ["create", "-b", prepared(refused), refused]);
    const starting = verb(stalling, ["run", "-d", "-b", prepared(undone), undone]);
    const terminated = verb(mute, ["create", "-b", prepared(stopped), stopped]);
    setTimeout(() => terminated.process.kill("SIGTERM"), 1_000);
    const early = await terminated.ended;
    expect(early.milliseconds).toBeLessThan(1_000 + AT_ONCE_MS);
    const [deleted, failed, late] = await Promise.all([deleting.ended, creating.ended, starting.ended]);
    expect(failed).toMatchObject({ status: 1, stderr: expect.stringMatching(/cannot reach the system's systemd: .*timed out/) });
    expect(failed.milliseconds).toBeLessThan(ANSWER_MS + AT_ONCE_MS);
    expect(deleted).toMatchObject({ status: 0, stderr: "" });
    expect(deleted.milliseconds).toBeLessThan(ANSWER_MS + AT_ONCE_MS);
    expect(late).toMatchObject({ status: 1, stderr: expect.stringMatching(/systemd: connection failed: .*timed out/) });
    expect(late.milliseconds).toBeLessThan(ANSWER_MS + AT_ONCE_MS);
    expect([made, refused, undone, stopped].filter(exists)).toEqual([]);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import * as assert from "../assert.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { parseStatus } from "../observe.ts";

/** Without "CAP_", in the order of their numbers (capabilities(7)). */
const NAMES = `CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST
  NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME
  SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF
  CHECKPOINT_RESTORE`.split(/\s+/);

interface Sets {
  readonly bounding?: readonly string[];
  readonly permitted?: readonly string[];
  readonly effective?: readonly string[];
  readonly inheritable?: readonly string[];
  readonly ambient?: readonly string[];
}

const prefixed = (sets: Sets) =>
  Object.fromEntries(Object.entries(sets).map(([set, names]) => [set, names.map((name: string) => `CAP_${name}`)]));

const capabilities =
  (sets: Sets, uid = 0) =>
  (config: Config) =>
    void Object.assign(config.process, { capabilities: prefixed(sets), user: { uid, gid: uid } });

/** As root the kernel gives a program all of its bounding set, so these three belong together. */
const full = (names: readonly string[]): Sets => ({ bounding: names, permitted: names, effective: names });

const mask = (names: readonly string[]) => names.reduce((bits, name) => bits | (1n << BigInt(NAMES.indexOf(name))), 0n);

/** Bit masks by the names in /proc/PID/status. */
type Masks = Record<"CapBnd" | "CapPrm" | "CapEff" | "CapInh" | "CapAmb", bigint>;

function masksOf(status: ReadonlyMap<string, string>): Masks {
  const field = (name: string) => BigInt(`0x${status.get(name)}`);
  return { CapBnd: field("CapBnd"), CapPrm: field("CapPrm"), CapEff: field("CapEff"), CapInh: field("CapInh"), CapAmb: field("CapAmb") };
}

const own = masksOf(parseStatus(readFileSync("/proc/self/status", "utf8")));

/** Capabilities that the test itself has. */
const GRANTABLE = NAMES.filter((name) => (own.CapBnd & mask([name])) !== 0n);

const masks = async (c: Context, change: (config: Config) => void): Promise<Masks> => masksOf(await (await c.start(change)).status());

const USER = 1000;

export const capabilitiesGroup = group("CAP", "capabilities", ({ must, should }) => {
  must(1, "each of the five sets is the requested one", async (c) => {
    // Every name has another pattern of presence over these containers, so that no two can be taken for each other.
    for (let bit = 0; bit < 6; bit++) {
      const names = GRANTABLE.filter((name) => ((NAMES.indexOf(name) + 1) >> bit) % 2 === 1);
      const { CapBnd, CapPrm, CapEff, CapInh, CapAmb } = await masks(c, capabilities(full(names)));
      assert.deepEqual([CapBnd, CapPrm, CapEff, CapInh, CapAmb], [mask(names), mask(names), mask(names), 0n, 0n]);
    }
    const names = ["CHOWN", "KILL", "SETUID", "NET_RAW"];
    const [inheritable, ambient] = [names.slice(1), names.slice(2)];
    const root = await masks(c, capabilities({ ...full(names), inheritable, ambient }));
    assert.deepEqual(root, {
      CapBnd: mask(names),
      CapPrm: mask(names),
      CapEff: mask(names),
      CapInh: mask(inheritable),
      CapAmb: mask(ambient),
    });
    const none = await masks(c, capabilities({}));
    assert.deepEqual(none, { CapBnd: 0n, CapPrm: 0n, CapEff: 0n, CapInh: 0n, CapAmb: 0n });
  });
  must(2, "without a capabilities object there are no capabilities", async (c) => {
    const none = await masks(c, (config) => Reflect.deleteProperty(config.process, "capabilities"));
    assert.deepEqual(none, { CapBnd: 0n, CapPrm: 0n, CapEff: 0n, CapInh: 0n, CapAmb: 0n });
  });
  must(3, "an unknown capability is a warning, and the others are set", async (c) => {
    const names = ["KILL", "TEST", "SETUID"];
    for (const set of ["bounding", "permitted", "effective", "inheritable", "ambient"])
      await c.warned(capabilities({ ...full(["KILL"]), [set]: ["KILL", "TEST"] }), /CAP_TEST/);
    assert.equal((await masks(c, capabilities(full(names)))).CapBnd, mask(["KILL", "SETUID"]));
  });
  should(4, "a capability that the caller does not have is left out", async (c) => {
    const missing = NAMES.filter((name) => !GRANTABLE.includes(name));
    if (missing.length > 0) assert.equal((await masks(c, capabilities(full([...missing, "KILL"])))).CapBnd, mask(["KILL"]));
    if (c.isRunt) {
      for (const name of missing) await c.warned(capabilities(full([name])), new RegExp(`permitted set: CAP_${name}$`));
    }
    const names = ["KILL", "NET_RAW", "SETUID"];
    for (const sets of [full(names), { ...full(names), inheritable: names }]) {
      const container = c.container(
        c.bundle((config) => {
          capabilities(sets)(config);
          config.process.args = ["/bin/grep", "Cap", "/proc/self/status"];
        }),
      );
      const script = 'exec setpriv --bounding-set -net_raw --inh-caps -net_raw "$@"';
      const { status, stdout, stderr } = await c.shell(script, ["run", "--bundle", container.bundle, container.id]);
      assert.equal(status, 0, stderr);
      const { CapPrm, CapEff } = masksOf(parseStatus(stdout));
      assert.deepEqual([CapPrm, CapEff], [mask(["KILL", "SETUID"]), mask(["KILL", "SETUID"])]);
    }
  });
  should(5, "an ambient capability that is not also permitted and inheritable is left out, with a warning", async (c) => {
    const names = ["KILL", "NET_RAW"];
    for (const sets of [{ ...full(names) }, { ...full(names), inheritable: ["KILL"] }]) {
      const container = await c.warned(capabilities({ ...sets, ambient: ["NET_RAW"] }), /CAP_NET_RAW|ambient/);
      await container.start();
      await container.until("running");
      assert.equal(masksOf(await container.status()).CapAmb, 0n);
    }
  });
  must(6, "the bounding set is reduced even if the program is not root; such a program has only the ambient capabilities", async (c) => {
    const names = ["CHOWN", "KILL", "SETUID", "NET_RAW"];
    const [inheritable, ambient] = [names.slice(1), names.slice(2)];
    const given = await masks(c, capabilities({ ...full(names), inheritable, ambient }, USER));
    const ambientMask = mask(ambient);
    assert.deepEqual(given, {
      CapBnd: mask(names),
      CapPrm: ambientMask,
      CapEff: ambientMask,
      CapInh: mask(inheritable),
      CapAmb: ambientMask,
    });
    const none = await masks(c, capabilities(full(names), USER));
    assert.deepEqual(none, { CapBnd: mask(names), CapPrm: 0n, CapEff: 0n, CapInh: 0n, CapAmb: 0n });
    // SECBIT_KEEP_CAPS is off again.
    assert.match(await c.output(["/probe"], capabilities(full(names), USER)), /^process keep capabilities: 0$/m);
  });
  must(7, "--log also has a warning for each capability that is left out", async (c) => {
    const container = c.container(c.bundle(capabilities(full(["KILL", "TEST"]))));
    const log = join(c.directory, "log");
    await container.ok(["--log", log, "create", "--bundle", container.bundle, container.id]);
    assert.match(readFileSync(log, "utf8"), /^.*warn.*CAP_TEST/m);
  });
  should(8, "an inheritable capability that is not in the bounding set is left out, with a warning", async (c) => {
    const container = await c.warned(capabilities({ ...full(["KILL"]), inheritable: ["KILL", "NET_RAW"] }), /CAP_NET_RAW/);
    await container.start();
    await container.until("running");
    assert.equal(masksOf(await container.status()).CapInh, mask(["KILL"]));
  });
});

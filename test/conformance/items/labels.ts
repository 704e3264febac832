import { readFileSync } from "node:fs";
import type { Config } from "../../support/config.ts";
import * as assert from "../assert.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { missing } from "../host.ts";

const PROFILES = "/sys/kernel/security/apparmor/profiles";

/** A label that is valid for SELinux, whatever the policy knows of it. */
const LABEL = "system_u:system_r:container_t:s0:c1,c2";

const process = (fields: object) => (config: Config) => void Object.assign(config.process, fields);
const hasSelinux = () => missing(["selinux"]) === undefined;

/** The label of a process; without a module that has one the kernel gives EINVAL. */
function labelOf(pid: number | "self"): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/attr/current`, "utf8").replace(/[\0\n]+$/, "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EINVAL") return undefined;
    throw error;
  }
}

/** The name of a profile that is loaded and lets its programs be started. */
function loadedProfile(c: Context): string {
  const line = readFileSync(PROFILES, "utf8")
    .split("\n")
    .find((text) => /\((complain|unconfined)\)$/.test(text));
  return line?.replace(/ \(\w+\)$/, "") ?? c.skip("needs a loaded AppArmor profile in complain mode");
}

export const labels = group("LSM", "apparmor and selinux", ({ must, should }) => {
  must(
    1,
    "the program runs in its AppArmor profile",
    async (c) => {
      const apparmorProfile = loadedProfile(c);
      const container = await c.start(process({ apparmorProfile }));
      assert.ok(labelOf(await container.pid())?.startsWith(`${apparmorProfile} (`));
    },
    { needs: ["apparmor"] },
  );
  must(2, "a missing AppArmor profile is an error, and so is any profile if AppArmor is off", async (c) => {
    await c.refused(process({ apparmorProfile: "no-such-profile" }), "/process/apparmorProfile");
  });
  must(3, "the program runs with its SELinux label; if SELinux is off, a label is an error", async (c) => {
    if (!hasSelinux()) await c.refused(process({ selinuxLabel: LABEL }), "/process/selinuxLabel");
    else {
      const selinuxLabel = labelOf("self") ?? "";
      const container = await c.start(process({ selinuxLabel }));
      assert.equal(labelOf(await container.pid()), selinuxLabel);
      await c.refused(process({ selinuxLabel: "no label at all" }), "/process/selinuxLabel");
    }
  });
  must(4, "mountLabel is the context of the mounts; if SELinux is off, it is an error", async (c) => {
    const change = (config: Config) => {
      config.linux["mountLabel"] = LABEL;
    };
    if (!hasSelinux()) await c.refused(change, "/linux/mountLabel");
    else {
      const { superOptions } = await (await c.create(change)).mount("/dev");
      assert.ok(superOptions.some((option) => /^context=/.test(option)));
    }
  });
  should(5, "a configuration without labels needs no security module, and does not affect one", async (c) => {
    const container = await c.start();
    assert.equal(labelOf(await container.pid()), labelOf("self"));
  });
});

import type { Config } from "../../support/config.ts";
import * as assert from "../assert.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";

const FIRST_HOST_ID = 100_000;
const IDS = 10_000;

const user = (fields: object) => (config: Config) => void Object.assign(config.process.user, fields);

/** A user namespace of its own with the first ids mapped to high ones. */
function withUserNamespace(config: Config): void {
  config.linux.namespaces.push({ type: "user" });
  const mappings = [{ containerID: 0, hostID: FIRST_HOST_ID, size: IDS }];
  Object.assign(config.linux, { uidMappings: mappings, gidMappings: mappings });
}

/** Fields of /proc/PID/status, which the host sees with its own ids. */
async function seen(c: Context, change: (config: Config) => void): Promise<Record<"uid" | "gid" | "groups" | "umask", string>> {
  const status = await (await c.start(change)).status();
  const field = (name: string) => (status.get(name) ?? "").replaceAll("\t", " ");
  return { uid: field("Uid"), gid: field("Gid"), groups: field("Groups"), umask: field("Umask") };
}

/** Of real, effective, saved and filesystem id. */
const four = (id: number) => Array(4).fill(id).join(" ");

export const userGroup = group("USR", "user", ({ must, should }) => {
  must(1, "uid and gid are ids of the container", async (c) => {
    const plain = await seen(c, user({ uid: 1234, gid: 4321 }));
    assert.deepEqual([plain.uid, plain.gid], [four(1234), four(4321)]);
    const root = await seen(c, user({ uid: 0, gid: 0 }));
    assert.deepEqual([root.uid, root.gid], [four(0), four(0)]);
    const change = (config: Config) => {
      withUserNamespace(config);
      user({ uid: 1234, gid: 4321 })(config);
    };
    const mapped = await seen(c, change);
    assert.deepEqual([mapped.uid, mapped.gid], [four(FIRST_HOST_ID + 1234), four(FIRST_HOST_ID + 4321)]);
    assert.equal(await c.output("id -u; id -g", change), "1234\n4321\n");
    // The standard streams are the user's own: they can be opened again.
    assert.equal(await c.output("echo shown > /dev/stdout", user({ uid: 1234, gid: 4321 })), "shown\n");
  });
  must(2, "the supplementary groups are those of additionalGids and no others", async (c) => {
    const groups = async (fields: object): Promise<string> => {
      const container = c.container(
        c.bundle((config) => {
          user(fields)(config);
          config.process.args = ["/bin/grep", "Groups", "/proc/self/status"];
        }),
      );
      const result = await c.shell('exec setpriv --groups 77,88 "$@"', ["run", "--bundle", container.bundle, container.id]);
      return result.stdout.replace("Groups:", "").trim();
    };
    assert.equal(await groups({ uid: 1000, gid: 1000, additionalGids: [5, 70000, 10] }), "5 10 70000");
    assert.equal(await groups({ additionalGids: [20] }), "20");
    assert.equal(await groups({ uid: 1000, gid: 1000 }), "");
    assert.equal(await groups({ additionalGids: [] }), "");
  });
  must(3, "umask is set", async (c) => {
    for (const umask of [0, 0o077, 0o123]) assert.equal((await seen(c, user({ umask }))).umask, umask.toString(8).padStart(4, "0"));
  });
  should(
    4,
    "without umask that of the caller stays",
    async (c) => {
      const container = c.container(
        c.bundle((config) => {
          config.process.args = ["/bin/grep", "Umask", "/proc/self/status"];
        }),
      );
      const { stdout } = await c.shell('umask 027; exec "$@"', ["run", "--bundle", container.bundle, container.id]);
      assert.equal(stdout, "Umask:\t0022\n");
    },
    { note: "it is 0022 then, as with runc and crun: images count on it" },
  );
  must(5, "an id that the user namespace does not have is refused", async (c) => {
    for (const [fields, pointer] of [
      [{ uid: IDS }, "/process/user/uid"],
      [{ gid: IDS }, "/process/user/gid"],
      [{ additionalGids: [1, IDS] }, "/process/user/additionalGids/1"],
    ] as const)
      await c.refused((config) => {
        withUserNamespace(config);
        user(fields)(config);
      }, pointer);
  });
  should(6, "the runtime resolves no names: ids are numbers, and username is ignored", async (c) => {
    for (const [fields, pointer] of [
      [{ uid: "user" }, "/process/user/uid"],
      [{ gid: "user" }, "/process/user/gid"],
      [{ additionalGids: ["user"] }, "/process/user/additionalGids/0"],
    ] as const)
      await c.refused(user(fields), pointer);
    assert.equal((await seen(c, user({ username: "user" }))).uid, four(0));
  });
});

/** Automatic updates, and the images of versions: a return to a version needs no registry. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { HAS_REGISTRY, useRegistries } from "./registry.ts";
import { RUNS, rolloutsIn } from "./rollout-scene.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot || !HAS_REGISTRY)("autoupdate (needs root, skopeo, umoci and docker-registry)", () => {
  const scene = useEngine();
  const registryOf = useRegistries(scene.directory);
  const { last, sequence } = rolloutsIn(scene);
  let count = 0;
  /** An image of its own: no two have the same upper layer. */
  const layout = (script = RUNS): { readonly directory: string; readonly digest: string } => {
    const directory = join(scene.directory, `layout-${++count}`);
    const layers = [baseLayer(), tar([{ name: "text", content: `image ${count}` }])];
    return { directory, digest: writeLayout(directory, { layers, config: { Cmd: ["/bin/sh", "-c", script] } }) };
  };
  /** Two replicas of an image, with further lines of the service. */
  const apply = async (image: string, more = "", update = "failure_action: rollback, monitor: 1500ms") => {
    const text = `name: shop
services:
  web:
    image: ${image.replace("docker://", "")}
    pull_policy: always
    network_mode: none
    stop_grace_period: 5s
    deploy: { replicas: 2, update_config: { ${update} } }
${more}`;
    expect(await scene.ctl("apply", "-f", scene.file("compose.yaml", text))).toMatchObject({ status: 0, stderr: "" });
  };
  const ctl = (verb: string, ...words: string[]) => scene.ctl(verb, "-g", "shop", ...words);
  const task = async (name: string) => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}?group=shop`)).text);
  const digests = async () => {
    const { tasks } = JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text);
    return tasks.map((one: { containers: { image: { digest: string } | null }[] }) => one.containers[0]!.image?.digest);
  };
  /** Digests in the store, by their names. */
  const names = async (): Promise<Readonly<Record<string, string>>> => {
    const { images } = JSON.parse((await http(scene.socket, "GET", "/v1/images")).text);
    return Object.fromEntries(images.map((one: { reference: string; digest: string }) => [one.reference, one.digest]));
  };
  const complete = (after = 0) => until(async () => (await last(after)) === "complete");

  test(
    "R12: a version keeps the digests of its images: a rollback, a further replica and a start get them while the registry is down",
    async () => {
      const registry = await registryOf();
      await scene.daemon({ before: registry.before });
      const [first, second] = [layout(), layout()];
      const image = await registry.push(first.directory, "shop/web:v1");
      await apply(image);
      await complete();
      expect(await digests()).toEqual([first.digest, first.digest]);

      // The tag leads to another image now. It is pulled for a version with another variable, which does not work.
      await registry.push(second.directory, "shop/web:v1");
      const broken = await sequence();
      await apply(image, "    command: [/bin/sh, -c, sleep 0.5; exit 3]\n");
      await until(async () => (await digests()).includes(second.digest));
      registry.deafTo = "/";
      await complete(broken);
      await until(async () => (await digests()).length === 2);
      expect(await digests()).toEqual([first.digest, first.digest]);

      const scaled = await sequence();
      expect(await ctl("scale", "web=3", "--wait")).toMatchObject({ status: 0, stderr: "" });
      await complete(scaled);
      expect((await task("web-3")).containers[0].image).toEqual({ reference: image, digest: first.digest, via: "cache" });
      // A stopped replica is started as it was.
      expect((await ctl("stop", "web-2")).status).toBe(0);
      await until(async () => (await task("web-2")).known === "STOPPED");
      expect((await ctl("start", "web-2")).status).toBe(0);
      await until(async () => (await task("web-2")).known === "RUNNING");
      expect((await task("web-2")).containers[0].image.digest).toBe(first.digest);
    },
    LONGEST_MS,
  );

  const OPTED = "    labels: { io.containers.autoupdate: registry }\n";
  interface Update {
    readonly state: string;
    readonly reason: string | null;
    readonly from: string;
    readonly to: string;
    readonly revision: number | null;
  }
  const updates = async (...words: string[]): Promise<Update[]> => {
    const { stdout } = await ctl("autoupdate", "-o", "json", ...words);
    return JSON.parse(stdout);
  };

  test(
    "R13: autoupdate rolls out what the tag leads to; what does not work returns to the old digest without the registry, and is not tried again",
    async () => {
      const registry = await registryOf();
      await scene.daemon({ before: registry.before });
      const [first, second, broken, third] = [layout(), layout(), layout("sleep 0.5; exit 3"), layout()];
      const image = await registry.push(first.directory, "shop/web:v1");
      // Nobody has asked for updates.
      await apply(image);
      await complete();
      await registry.push(second.directory, "shop/web:v1");
      const asked = registry.asked.length;
      expect(await ctl("autoupdate")).toMatchObject({ status: 0, stdout: "", stderr: expect.stringContaining("no container has") });
      expect(await updates("web")).toMatchObject([{ state: "no", reason: "it does not ask for updates" }]);
      expect(registry.asked).toHaveLength(asked);

      await registry.push(first.directory, "shop/web:v1");
      const opted = await sequence();
      await apply(image, OPTED);
      await complete(opted);
      expect(await updates()).toMatchObject([{ state: "no", reason: null, from: first.digest, to: first.digest }]);

      await registry.push(second.directory, "shop/web:v1");
      const dry = await sequence();
      expect(await updates("--dry-run")).toMatchObject([{ state: "pending", from: first.digest, to: second.digest, revision: null }]);
      expect(await sequence()).toBe(dry);
      expect(await digests()).toEqual([first.digest, first.digest]);

      const done = await ctl("autoupdate", "--wait");
      expect(done).toMatchObject({ status: 0, stderr: "" });
      expect(done.stdout).toMatch(/^NAME .* UPDATED\nweb +web .*\/shop\/web:v1 .* updating, revision 3\n/);
      expect(await digests()).toEqual([second.digest, second.digest]);
      const { history } = JSON.parse((await http(scene.socket, "GET", "/v1/rollouts/web?group=shop")).text);
      expect(history.at(-1)).toMatchObject({ cause: "autoupdate", changed: ["/containers/0/image"], verdict: "good" });

      await registry.push(broken.directory, "shop/web:v1");
      const before = await sequence();
      expect(await updates()).toMatchObject([{ state: "updating", to: broken.digest, revision: 4 }]);
      registry.deafTo = "/";
      await complete(before);
      await until(async () => (await digests()).length === 2);
      expect(await digests()).toEqual([second.digest, second.digest]);
      // The tag names what runs again, and what has failed is named by its digest.
      const exact = `${image.replace(/:v1$/, "")}@${broken.digest}`;
      await until(async () => (await names())[image] === second.digest);
      expect(await names()).toEqual({ [image]: second.digest, [exact]: broken.digest });
      expect((await scene.ctl("images", "prune")).stdout).toContain(`${exact} removed`);
      expect(await names()).toEqual({ [image]: second.digest });
      const shown = (await ctl("rollout", "history", "web")).stdout.split("\n");
      const at = (digest: string) => `${image.replace("docker://", "")} ${digest.slice(0, 19)}`;
      expect([shown[3], shown[4]]).toEqual([expect.stringContaining(at(second.digest)), expect.stringContaining(at(broken.digest))]);
      // One registry that is down is told of.
      expect(await updates()).toMatchObject([{ state: "failed", from: second.digest, to: null }]);

      await until(async () => (await task("web")).known === "RUNNING");
      registry.deafTo = "";
      const left = await sequence();
      expect(await updates()).toMatchObject([{ state: "no", reason: "rolled back before", to: broken.digest }]);
      expect(await sequence()).toBe(left);
      await registry.push(third.directory, "shop/web:v1");
      expect((await ctl("autoupdate", "web", "--wait")).status).toBe(0);
      expect(await digests()).toEqual([third.digest, third.digest]);
      // No image of a version that was good is removed, though the tag leads elsewhere.
      expect((await scene.ctl("images", "prune")).stdout).not.toContain(" removed");
      registry.deafTo = "/";
      // What a user has undone is not done again.
      expect((await ctl("rollout", "undo", "web", "--wait")).status).toBe(0);
      expect(await digests()).toEqual([second.digest, second.digest]);
      await until(async () => (await names())[image] === second.digest);
      registry.deafTo = "";
      expect(await updates()).toMatchObject([{ state: "no", reason: "rolled back before", to: third.digest }]);
    },
    LONGEST_MS,
  );

  test(
    "R13: with the policy local a container gets what has its name in the store, and no registry is asked",
    async () => {
      const registry = await registryOf();
      await scene.daemon({ before: registry.before });
      const [first, second] = [layout(), layout()];
      const image = await registry.push(first.directory, "shop/web:v1");
      await apply(image, "    labels: { io.containers.autoupdate: local }\n");
      await complete();
      await registry.push(second.directory, "shop/web:v1");
      expect(await updates()).toMatchObject([{ state: "no", reason: null, from: first.digest, to: first.digest }]);
      expect((await ctl("pull", image)).status).toBe(0);
      registry.deafTo = "/";
      expect(await updates("--dry-run")).toMatchObject([{ state: "pending", from: first.digest, to: second.digest }]);
      expect((await ctl("autoupdate", "--wait")).status).toBe(0);
      expect(await digests()).toEqual([second.digest, second.digest]);
    },
    LONGEST_MS,
  );

  test(
    "R13: a daemon that is killed in the middle goes on to the same digest, and a registry that fails does not stop the others",
    async () => {
      const registry = await registryOf();
      const daemon = await scene.daemon({ before: registry.before });
      const [first, second] = [layout(), layout()];
      const image = await registry.push(first.directory, "shop/web:v1");
      const place = (await registry.push(first.directory, "shop/db:v1")).replace("docker://", "");
      const db = `  db:\n    image: ${place}\n    network_mode: none\n${OPTED}    deploy: { update_config: { monitor: 500ms } }\n`;
      const areComplete = async () => {
        const { services } = JSON.parse((await http(scene.socket, "GET", "/v1/rollouts")).text);
        return services.length === 2 && services.every(({ state }: { state: string }) => state === "complete");
      };
      await apply(image, OPTED + db);
      await until(areComplete);
      await registry.push(second.directory, "shop/web:v1");
      registry.deafTo = "/shop/db/";
      const [ofDb, ofWeb] = await updates();
      expect(ofDb).toMatchObject({ state: "failed", from: first.digest, to: null });
      expect(ofWeb).toMatchObject({ state: "updating", to: second.digest });
      await until(async () => (await digests()).includes(second.digest));
      await daemon.kill();
      // The tag leads to something else by now, and nobody can be asked.
      await registry.push(layout().directory, "shop/web:v1");
      registry.deafTo = "/";
      await scene.daemon({ before: registry.before });
      await until(areComplete);
      for (const name of ["web", "web-2"]) expect((await task(name)).containers[0].image.digest).toBe(second.digest);
    },
    LONGEST_MS,
  );
});

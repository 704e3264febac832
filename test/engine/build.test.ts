/** Images that a Compose file builds: by buildah, which the daemon runs. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { isRoot, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const MISSING = ["skopeo", "umoci", "buildah"].find((name) => !existsSync(`/usr/bin/${name}`));
const FROM_SCRATCH = "FROM scratch\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\nCOPY busybox /bin/cat\n";

describe.skipIf(!isRoot || MISSING !== undefined)(`Compose files with a build (needs root and ${MISSING ?? "buildah"})`, () => {
  const scene = useEngine();
  const context = (name: string, files: Readonly<Record<string, string>>) => {
    const directory = join(scene.directory, name);
    mkdirSync(directory, { recursive: true });
    copyFileSync(realpathSync("/bin/busybox"), join(directory, "busybox"));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
    return directory;
  };
  const state = (...parts: string[]) => join(scene.stateDir, ...parts);
  const imagesOf = async (name: string): Promise<string[]> => {
    const { images } = { images: JSON.parse((await scene.ctl("images", "-o", "json")).stdout) as { reference: string }[] };
    return images.map(({ reference }) => reference).filter((one) => one.includes(name));
  };
  /** Nothing of a build is left but its layers. */
  const left = () => readdirSync(state("builder")).filter((name) => name !== "storage");

  test("arguments, a stage, a text as Dockerfile and the image of another service; it is built again only when asked", async () => {
    await scene.daemon();
    const out = sharedIn(scene, "built");
    const directory = context("site", {
      Dockerfile: `${FROM_SCRATCH.replace("scratch", "scratch AS base")}FROM base AS app
ARG WORD
ARG OUTSIDE
COPY text /text
RUN ["/bin/busybox", "sh", "-c", "echo $WORD $OUTSIDE > /built"]
RUN --mount=type=secret,id=token ["/bin/busybox", "sh", "-c", "cat /run/secrets/token >> /built"]
HEALTHCHECK --interval=1s CMD ["/bin/cat", "/text"]
CMD ["/bin/sh", "-c", "cat /built /text >> /out/lines; ${SLEEP}"]
FROM base AS wrong
RUN ["/bin/busybox", "false"]
`,
      text: "first\n",
      token: "hush\n",
      ".env": "OUTSIDE=around\n",
    });
    const file = join(directory, "compose.yaml");
    const service = "network_mode: none\n    stop_signal: SIGKILL\n    volumes: [../shared-built:/out]";
    writeFileSync(
      file,
      `services:
  worker:
    ${service}
    build:
      dockerfile_inline: "FROM base\\nCMD [\\"/bin/sh\\", \\"-c\\", \\"echo worker >> /out/lines; ${SLEEP}\\"]\\n"
      additional_contexts: { base: service:web }
      network: none
  web:
    ${service}
    build: { target: app, args: { WORD: one, OUTSIDE: }, secrets: [token], network: none, tags: [shop:v1] }
secrets: { token: { file: token } }
`,
    );
    const all = ["-f", file, "-p", "shop"];
    expect((await scene.ctl("validate", ...all)).stdout).toContain(
      `its image docker.io/library/shop-web:latest is built from ${directory}`,
    );
    const planned = await scene.ctl("plan", ...all);
    expect(planned).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("its image docker.io/library/shop-web:latest would be built"),
    });
    expect(existsSync(state("builder"))).toBe(false);
    const first = await scene.ctl("apply", ...all);
    expect(first).toMatchObject({ status: 0, stdout: "task worker created\ntask web created\n" });
    expect(first.stderr).toMatch(/^web \| .*STEP/m);
    await until(
      () => out.lines().length === 4,
      undefined,
      () => out.lines().join(),
    );
    expect(out.lines().toSorted()).toEqual(["first", "hush", "one around", "worker"]);
    expect(left()).toEqual([]);
    const names = await imagesOf("shop");
    const [exact] = names.filter((name) => name.includes("shop-web@sha256:"));
    expect(names).toEqual(
      expect.arrayContaining(["docker://docker.io/library/shop:v1", "docker://docker.io/library/shop-web:latest", exact]),
    );
    const described = (await scene.ctl("-g", "shop", "get", "web", "-o", "json")).stdout;
    expect(described).toContain(exact!.slice(exact!.indexOf("sha256:")));
    await until(async () => /(?<!un)healthy/i.test((await scene.ctl("-g", "shop", "describe", "web")).stdout));
    // What has changed is of no matter until somebody asks.
    writeFileSync(join(directory, "text"), "second\n");
    const again = await scene.ctl("apply", ...all);
    expect(again).toMatchObject({ status: 0, stdout: "task worker unchanged\ntask web unchanged\n", stderr: "" });
    expect((await scene.ctl("plan", "--exit-code", ...all)).status).toBe(0);
    const only = await scene.ctl("build", ...all, "web");
    expect(only).toMatchObject({ status: 0, stdout: expect.stringMatching(/^web sha256:[0-9a-f]{64}\n$/) });
    expect(await scene.ctl("plan", "--exit-code", ...all)).toMatchObject({
      status: 4,
      stdout: expect.stringContaining("~ task web would be replaced"),
    });
    const asked = await scene.ctl("apply", "--build", ...all);
    expect(asked).toMatchObject({ status: 0, stdout: "task worker replaced\ntask web replaced\n" });
    await until(
      () => out.lines().filter((line) => line === "second").length === 1,
      undefined,
      () => out.lines().join(),
    );
    // The same context makes the same image.
    expect((await scene.ctl("apply", "--build", ...all)).stdout).toBe("task worker unchanged\ntask web unchanged\n");
    expect((await scene.ctl("build", ...all, "nobody")).stderr).toContain("there is no service nobody with a build");
    expect(await scene.ctl("delete", ...all)).toMatchObject({ status: 0 });
  });

  test("an image with a name is asked of its registry first, unless the policy is to build; one that is there is not asked for", async () => {
    await scene.daemon();
    const directory = context("named", { "Other.Dockerfile": `${FROM_SCRATCH}CMD ["/bin/sh", "-c", "${SLEEP}"]\n` });
    const file = join(directory, "compose.yaml");
    const write = (policy: string) =>
      writeFileSync(
        file,
        `services: { web: { image: "127.0.0.1:9/shop/web:v1", network_mode: none, stop_signal: SIGKILL, pull_policy: ${policy}, build: { context: ., dockerfile: Other.Dockerfile, network: none } } }\n`,
      );
    write("missing");
    const first = await scene.ctl("apply", "-f", file);
    expect(first).toMatchObject({ status: 0, stdout: "task web created\n" });
    expect(first.stderr).toMatch(
      /web: docker:\/\/127.0.0.1:9\/shop\/web:v1: skopeo has failed.*\nweb: building 127.0.0.1:9\/shop\/web:v1\n/,
    );
    expect(await scene.ctl("apply", "-f", file)).toMatchObject({ stdout: "task web unchanged\n", stderr: "" });
    write("build");
    const built = await scene.ctl("apply", "-f", file);
    expect(built.stderr).toMatch(/^web: building /);
    expect(built.stdout).toBe("task web unchanged\n");
    await scene.ctl("delete", "-f", file);
    await scene.ctl("images", "prune");
    expect(existsSync(state("builder/storage"))).toBe(false);
  });

  test("a link that leads out of the context, as Dockerfile or as a source, gives nothing of the host; a step that fails is told of", async () => {
    await scene.daemon();
    const secret = scene.file("secret", "FROM secretword\nsecretword\n");
    chmodSync(secret, 0o600);
    const directory = context("hostile", {
      source: "FROM scratch\nCOPY link /got\n",
      above: "FROM scratch\nCOPY ../secret /got\n",
      inside: "FROM scratch\nCOPY dir/secret /got\n",
      failing: `${FROM_SCRATCH}RUN ["/bin/busybox", "false"]\n`,
    });
    symlinkSync(secret, join(directory, "link"));
    symlinkSync(scene.directory, join(directory, "dir"));
    execFileSync("mkfifo", [join(directory, "fifo")]);
    const build = async (dockerfile: string) => {
      const text = `services: { web: { build: { context: ., network: none, dockerfile: ${dockerfile} } } }\n`;
      writeFileSync(join(directory, "compose.yaml"), text);
      return scene.ctl("build", "-f", join(directory, "compose.yaml"));
    };
    for (const [name, message] of [
      ["link", "leads out of its context"],
      ["dir/secret", "leads out of its context"],
      ["fifo", "is no regular file"],
      ["nothing", "cannot be read: ENOENT"],
      ["source", "COPY link /got"],
      ["above", "COPY ../secret /got"],
      ["inside", "COPY dir/secret /got"],
      ["failing", "exit status 1"],
    ] as const) {
      const { status, stdout, stderr } = await build(name);
      expect({ name, status, stdout }).toEqual({ name, status: 1, stdout: "" });
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("secretword");
    }
    writeFileSync(join(directory, "quiet"), `${FROM_SCRATCH}COPY above /got\n`);
    for (const ignore of ["quiet.dockerignore", ".dockerignore"]) {
      for (const [target, message] of [
        [secret, "leads out of its context"],
        ["fifo", "is no regular file"],
      ] as const) {
        symlinkSync(target, join(directory, ignore));
        expect((await build("quiet")).stderr).toContain(`${join(directory, ignore)} ${message}`);
        unlinkSync(join(directory, ignore));
      }
    }
    writeFileSync(join(directory, ".dockerignore"), "above\n");
    expect((await build("quiet")).stderr).toContain("COPY above /got");
    expect(await imagesOf("hostile")).toEqual([]);
    // The patterns of the Dockerfile itself are used in place of those.
    writeFileSync(join(directory, "quiet.dockerignore"), "below\n");
    expect(await build("quiet")).toMatchObject({ status: 0 });
    expect(left()).toEqual([]);
  });

  test("a build that hangs ends with its client, with all of its processes, and is not in the way of the next one", async () => {
    await scene.daemon();
    const marker = `${Math.random()}`.slice(2);
    const directory = context("hanging", { Dockerfile: `${FROM_SCRATCH}RUN ["/bin/busybox", "sleep", "1${marker}"]\n` });
    const file = join(directory, "compose.yaml");
    writeFileSync(file, "services: { web: { build: { network: none } } }\n");
    const sleeping = () =>
      readdirSync("/proc").find((pid) => /^\d+$/.test(pid) && lineOf(pid).includes(`1${marker}`) && !lineOf(pid).includes("Dockerfile"));
    const controller = new AbortController();
    const asked = requestOf(
      scene.socket,
      { reference: "docker://docker.io/library/hang:latest", context: directory, network: "none" },
      controller,
    );
    await until(() => sleeping() !== undefined);
    const [work = ""] = left();
    // The random suffix keeps the cgroup apart from those of other daemons with this path of the state directory.
    const own = readFileSync(`/proc/${sleeping()}/cgroup`, "utf8");
    expect(own).toMatch(new RegExp(`/builder-\\w+-${work.replace("run-", "")}$`, "m"));
    controller.abort();
    await asked;
    await until(() => sleeping() === undefined && left().length === 0);
    expect(await imagesOf("hang")).toEqual([]);
    writeFileSync(join(directory, "Dockerfile"), FROM_SCRATCH);
    expect((await scene.ctl("build", "-f", file)).status).toBe(0);
  });

  test("without buildah the package is named", async () => {
    const programs = join(scene.directory, "programs");
    mkdirSync(programs);
    for (const name of ["unshare", "sh", "skopeo", "umoci", "mount", "umount"])
      symlinkSync(execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim(), join(programs, name));
    await scene.daemon({ env: { PATH: programs } });
    const directory = context("without", { Dockerfile: FROM_SCRATCH });
    const file = join(directory, "compose.yaml");
    writeFileSync(file, "services: { web: { build: . } }\n");
    const { status, stderr } = await scene.ctl("apply", "-f", file);
    expect(status).toBe(1);
    expect(stderr).toContain("buildah is not installed: apt-get install buildah");
  });
});

/** Asks for a build, and goes away when it is told to. Resolves when it is over. */
function requestOf(socketPath: string, body: object, { signal }: AbortController): Promise<void> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json" };
    const asked = request({ socketPath, path: "/v1/images/build", method: "POST", headers, signal }, (answer) => {
      answer.resume();
      answer.once("close", resolve);
    });
    asked.once("error", () => resolve());
    asked.end(JSON.stringify(body));
  });
}

function lineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

describe.skipIf(!isRoot || MISSING !== undefined || noNetworks !== undefined)(
  "networks of builds (needs root, buildah and CNI plugins)",
  () => {
    const scene = useEngine();
    const host = useNetworkHost(scene);

    test("commands of a build are behind a bridge of their own, of which nothing is left", async () => {
      await host.daemon();
      const directory = join(scene.directory, "online");
      mkdirSync(directory);
      copyFileSync(realpathSync("/bin/busybox"), join(directory, "busybox"));
      writeFileSync(
        join(directory, "Dockerfile"),
        `${FROM_SCRATCH}RUN ["/bin/busybox", "ip", "-o", "address"]\nRUN ["/bin/busybox", "cat", "/etc/hosts"]\n`,
      );
      const file = join(directory, "compose.yaml");
      writeFileSync(file, 'services: { web: { build: { context: ., extra_hosts: ["db=192.0.2.7"] } } }\n');
      const { status, stderr } = await scene.ctl("build", "-f", file);
      expect(status, stderr).toBe(0);
      expect(stderr).toMatch(/web \| \d+: eth0 +inet \d+\.\d+\.\d+\.\d+/);
      expect(stderr).toMatch(/192\.0\.2\.7\s+db/);
      expect(await host.left()).toEqual([]);
    });
  },
);

/** Files that Docker Compose accepts. Comments name where compose-go 2.9.1 says so. */
import { expect, test } from "vitest";
import { container, one, only } from "../../../test/support/engine/compose-file.ts";
import { parseCompose } from "./parse.ts";

const FILES: Readonly<Record<string, string>> = {
  "/home/me/app.env": "A=home\nFOO=file\n",
  "/home/me/labels": "l=1\n",
  "/home/me/key": "secret",
  "/srv/app/sub/other.yaml":
    "services: { o: { x-runt-rootfs: /r, command: x, env_file: ~/app.env, build: ~/src, secrets: [s], environment: [FOO, OUTER, NO] } }\nsecrets: { s: { file: ~/key } }\n",
  "/srv/app/sub/.env": "FOO=inner\nOUTER=inner\n",
  "/etc/hosts": "127.0.0.1 localhost\n192.0.2.1 of-host",
};
const DIRECTORIES = ["/srv/app/conf.d", "/home/me/keys"];
const readFile = (path: string) => {
  if (DIRECTORIES.includes(path)) throw Object.assign(new Error("illegal operation on a directory"), { code: "EISDIR" });
  if (FILES[path] === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
  return Buffer.from(FILES[path]);
};
const environment = { HOME: "/home/me", OUTER: "outer", COMPOSE_PROJECT_NAME: "p" };
const read = (text: string, more: Readonly<Record<string, string | undefined>> = environment) => {
  const { findings, warnings, ...file } = parseCompose(text, { environment: more, profiles: [], directory: "/srv/app", readFile })!;
  const told = (all: typeof findings) => all.map(({ pointer, message }) => `${pointer}: ${message}`);
  return { ...file, findings: told(findings), warnings: told(warnings) };
};
const accepted = (text: string) => {
  const { findings, ...file } = read(text);
  expect(findings).toEqual([]);
  return file;
};

/** paths/resolve.go, paths/home.go. */
test("~ is the home of the caller in env_file, label_file, secrets, configs, build and device, also in an included file", () => {
  const text = `${one("    env_file: [~/app.env]\n    label_file: ~/labels\n    secrets: [s]\n    configs: [c]\n    volumes: ['v:/v']\n")}  built:
    image: i
    build: { context: ~/src, additional_contexts: { more: ~/more }, ssh: [key=~/id] }
secrets: { s: { file: ~/key } }
configs: { c: { file: ~/key } }
volumes: { v: { driver_opts: { o: bind, type: none, device: ~/d } } }
`;
  const { tasks, builds } = accepted(text);
  const [web] = tasks[0]!.containers;
  expect(web).toMatchObject({ env: { A: "home" }, annotations: { l: "1" } });
  expect(web!.mounts.map(({ source }) => source)).toContain("/home/me/d");
  const files = tasks[0]!.volumes.flatMap((volume) => Object.values(volume.files ?? {}));
  expect(files.map(({ content }) => Buffer.from(content, "base64").toString())).toEqual(["secret", "secret"]);
  expect(builds[0]!.request).toMatchObject({ context: "/home/me/src", contexts: { more: "/home/me/more" }, ssh: { key: "/home/me/id" } });
  const included = accepted("include: [sub/other.yaml]\n");
  expect(included.tasks[0]!.containers[0]!.env["A"]).toBe("home");
  for (const [path, home] of [
    ["~/key", undefined],
    ["~other/key", "/home/me"],
  ] as const)
    expect(read(`${one("    secrets: [s]\n")}secrets: { s: { file: ${path} } }\n`, { HOME: home }).findings[0]).toContain(
      "/services/web/secrets/0: write the path in full",
    );
});

/** Source: compose, pkg/compose/build.go. */
test("platforms of a build beside that of this machine have no effect", () => {
  const own = process.arch === "x64" ? "linux/amd64" : "linux/arm64";
  const { builds, warnings } = accepted(`services: { web: { build: { context: ., platforms: [linux/riscv64, ${own}] } } }\n`);
  expect(builds).toHaveLength(1);
  expect(warnings).toEqual([`/services/web/build/platforms/0: has no effect: the image is built for ${own}, which is this machine's`]);
  expect(read("services: { web: { build: { context: ., platforms: [linux/riscv64] } } }\n").findings).toHaveLength(1);
});

/** format/volume.go, populateFieldFromBuffer: "ignore unknown options". */
test("options of a short mount that are none have no effect", () => {
  const { tasks, warnings } = accepted(one("    volumes: ['./d:/d:Z,U', './e:/e:ro,exec']\n"));
  expect(tasks[0]!.containers[0]!.mounts).toMatchObject([
    { source: "/srv/app/d", target: "/d", readOnly: false },
    { source: "/srv/app/e", target: "/e", readOnly: true },
  ]);
  expect(warnings).toEqual([
    "/services/web/volumes/0: has no effect, as with Compose: there is no option U of a mount",
    "/services/web/volumes/1: has no effect, as with Compose: there is no option exec of a mount",
  ]);
});

/** Docker, "docker run --network": bridge, none, host, container:NAME, or the name of a network of the host. */
test("network_mode is the name of a network that others have made, or default", () => {
  const { tasks, externals } = accepted(one("    network_mode: my.net\n    mac_address: 02-00-00-00-00-01\n    ports: ['8080:80']\n"));
  expect(tasks[0]!.network).toMatchObject({ name: "my-net", shared: true, mac: "02:00:00:00:00:01", ports: [{ host: 8080 }] });
  expect(externals).toEqual(["my-net"]);
  expect(only(one("    network_mode: default\n")).network).toMatchObject({ mode: "bridge" });
  expect(read(one("    network_mode: other\n    networks: [default]\n")).findings).toEqual([
    "/services/web/networks: with network_mode other there are no networks",
  ]);
  expect(read(one("    network_mode: ns:/x\n")).findings[0]).toContain("the name of a network, service:NAME and container:NAME");
});

/** types/project.go, WithServicesEnvironmentResolved; loader/environment.go. */
test("a variable without a value removes that of a file, and in an included file it is that of its own .env", () => {
  const fields = "    env_file: ~/app.env\n    environment: ";
  for (const list of ["[FOO]", "{ FOO: }"]) {
    const { tasks } = accepted(one(`${fields}${list}\n`));
    expect(tasks[0]!.containers[0]!.env).toEqual({ A: "home" });
  }
  expect(container("    environment: [FOO]\n", { environment: { FOO: "set" } }).env).toEqual({ FOO: "set" });
  const { tasks } = accepted("include: [sub/other.yaml]\n");
  expect(tasks[0]!.containers[0]!.env).toEqual({ A: "home", FOO: "inner", OUTER: "outer" });
});

/** loader/include.go, loadIncludeConfig: "include must be a list". It does not compare the maps of include and extends with the schema. */
test("include is a list of paths and maps; fields of include and extends that are none are told of", () => {
  expect(read("include: sub/other.yaml\nservices: {}\n").findings).toEqual(['/include: is a list, as in "include: [other.yaml]"']);
  expect(read("include: [{ path: 5 }]\n").findings).toEqual(["/include/0/path: is a text, or a list of texts"]);
  expect(read("include: [{ path: sub/other.yaml, env_file: { a: b } }]\n").findings).toEqual([
    "/include/0/env_file: is a text, or a list of texts",
  ]);
  const none = "has no effect, as with Compose: there is no such field";
  expect(accepted("include: [{ path: sub/other.yaml, directory: x, x-mine: 1 }]\n").warnings).toContain(`/include/0/directory: ${none}`);
  const extending = `${one("    extends: { service: base, from: x }\n")}  base: { x-runt-rootfs: /r, command: x }\n`;
  expect(accepted(extending).warnings).toContain(`/services/web/extends/from: ${none}`);
  const wrong = `${one("    extends: { service: base, file: [x] }\n")}  base: { x-runt-rootfs: /r, command: x }\n`;
  expect(read(wrong).findings).toEqual(["/services/web/extends: file is a text"]);
});

/** Compose mounts the source of a secret or config, whatever it is. */
test("a directory is a config or a secret as it is", () => {
  const text = `${one("    configs: [{ source: c, target: /etc/conf.d, mode: 0400 }]\n    secrets: [k]\n")}configs: { c: { file: ./conf.d } }
secrets: { k: { file: ~/keys } }
`;
  const { tasks, warnings } = accepted(text);
  expect(tasks[0]!.containers[0]!.mounts).toEqual([
    { source: "/home/me/keys", target: "/run/secrets/k", readOnly: true },
    { source: "/srv/app/conf.d", target: "/etc/conf.d", readOnly: true },
  ]);
  expect(warnings).toEqual(["/services/web/configs/0/mode: has no effect: a directory is mounted as it is"]);
  const built = "services: { web: { build: { context: ., secrets: [k] } } }\nsecrets: { k: { file: ~/keys } }\n";
  expect(read(built).findings).toEqual([expect.stringContaining("/home/me/keys is a directory")]);
});

test("a volume with a name is one of the project, which a warning says", () => {
  const text = `${one("    volumes: ['d:/d', 'e:/e']\n")}volumes: { d: { name: shared }, e: { external: true, name: other }, f: { name: unused } }\n`;
  const { tasks, warnings } = accepted(text);
  expect(tasks[0]!.volumes).toMatchObject([{ kept: "shared" }, { kept: "other", existing: true }]);
  expect(warnings).toEqual(["/volumes/d/name: is the name in this project only: other projects have a volume of their own with this name"]);
});

/** Docker, "Bridge network driver". */
test("the name of a bridge has no effect", () => {
  const options = "driver_opts: { com.docker.network.bridge.name: br-mail, com.docker.network.driver.mtu: 1400 }";
  const { tasks, warnings } = accepted(`${one("    networks: [mail]\n")}networks: { mail: { ${options} } }\n`);
  expect(tasks[0]!.network).toMatchObject({ name: "mail", mtu: 1400 });
  expect(warnings).toEqual([
    "/networks/mail/driver_opts/com.docker.network.bridge.name: has no effect: the engine names its bridges itself",
  ]);
});

/** NVIDIA Container Toolkit, "Environment variables (OCI spec)". */
test("runtime: nvidia gives the service the graphics processors of its variable, as devices of CDI", () => {
  const of = (fields: string) => {
    const { tasks, warnings } = accepted(one(`    runtime: nvidia\n${fields}`));
    expect(tasks[0]!.runtime).toBeUndefined();
    const what = fields === "" ? "none without NVIDIA_VISIBLE_DEVICES" : "as devices of CDI";
    expect(warnings).toEqual([
      expect.stringContaining(`/services/web/runtime: is no runtime here: the service gets graphics processors ${what}`),
    ]);
    return tasks[0]!.containers[0]!.cdi ?? [];
  };
  expect(of("")).toEqual([]);
  expect(of("    environment: { NVIDIA_VISIBLE_DEVICES: all }\n")).toEqual(["nvidia.com/gpu=all"]);
  expect(of("    environment: ['NVIDIA_VISIBLE_DEVICES=0,GPU-a1']\n")).toEqual(["nvidia.com/gpu=0", "nvidia.com/gpu=GPU-a1"]);
  expect(of("    environment: { NVIDIA_VISIBLE_DEVICES: void }\n")).toEqual([]);
  expect(of("    gpus: [{ count: 1 }]\n")).toEqual(["nvidia.com/gpu=0"]);
});

/** Source: moby, daemon/container_operations_unix.go: the lines of the host with its network, and those of `extra_hosts`. */
test("extra_hosts with the host's network, or with none, are lines of a file of the service", () => {
  const hosts = (mode: string, lines: string) => {
    const { tasks } = accepted(one(`    network_mode: ${mode}\n    extra_hosts: ${lines}\n`));
    const [volume] = tasks[0]!.volumes;
    expect(tasks[0]!.containers[0]!.mounts).toEqual([{ volume: volume!.name, subPath: "hosts", target: "/etc/hosts", readOnly: true }]);
    return volume!.files!["hosts"]!.content;
  };
  expect(hosts("host", "['db=192.0.2.5', 'up:host-gateway']")).toBe(
    "127.0.0.1 localhost\n192.0.2.1 of-host\n192.0.2.5\tdb\n127.0.0.1\tup\n",
  );
  const own = accepted(one("    network_mode: host\n    extra_hosts: { db: 192.0.2.5 }\n    volumes: [./hosts:/etc/hosts]\n"));
  expect(own.tasks[0]!.containers[0]!.mounts).toHaveLength(1);
  expect(hosts("none", "{ db: '::2' }")).toMatch(/^127\.0\.0\.1\tlocalhost\n::1\t.*\n::2\tdb\n$/);
  for (const [lines, message] of [
    ["{ db: nowhere }", "nowhere is no IP address, and not host-gateway"],
    ["{ 'a b': 192.0.2.1 }", "a b is no domain name"],
  ])
    expect(read(one(`    network_mode: host\n    extra_hosts: ${lines}\n`)).findings).toEqual([`/services/web/extra_hosts: ${message}`]);
  expect(accepted(one("    network_mode: host\n")).tasks[0]!.volumes).toEqual([]);
});

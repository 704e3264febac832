import { expect, test } from "vitest";
import { container, one, only, read, readFile, told } from "../../../test/support/engine/compose-file.ts";
import { parseTasks } from "../../engine/spec/index.ts";
import { parseCompose } from "./parse.ts";

test("each service is a task with one container, and what is sent to the daemon is the same", () => {
  const text = `name: shop\nservices:\n  db: { x-runt-rootfs: /db, command: [postgres, -D, /d] }\n  web:\n    x-runt-rootfs: /web\n    entrypoint: /bin/run\n    command: serve --port 80\n`;
  const { tasks, inputs, name } = read(text);
  expect(name).toBe("shop");
  expect(tasks.map(({ name: task, containers: [only] }) => [task, only!.name, only!.rootfs, only!.command, only!.args])).toEqual([
    ["db", "db", "/db", "postgres", ["-D", "/d"]],
    ["web", "web", "/web", "/bin/run", ["serve", "--port", "80"]],
  ]);
  expect(parseTasks(inputs.map((input) => JSON.stringify(input)).join("\n---\n")).tasks).toEqual(tasks);
});

/** Compose specification, "environment", "working_dir", "user", "hostname", "read_only", "cap_add", "labels". */
test("what a program sees: environment as map and list, directory, user, name, rights", () => {
  const fields =
    '    environment: { PORT: 80, DEBUG: true, OUTSIDE: , NOBODY: }\n    working_dir: /srv\n    user: "5"\n    hostname: box\n    read_only: true\n    cap_add: [NET_ADMIN]\n    cap_drop: [ALL]\n    labels: ["a=b"]\n';
  expect(container(fields, { environment: { OUTSIDE: "x" } })).toMatchObject({
    env: { PORT: "80", DEBUG: "true", OUTSIDE: "x" },
    cwd: "/srv",
    user: "5",
    hostname: "box",
    readonlyRootfs: true,
    capabilities: { add: ["CAP_NET_ADMIN"], drop: ["ALL"] },
    annotations: { a: "b" },
  });
  expect(container('    environment: ["A=1", "B=x=y", OUTSIDE, NOBODY]\n', { environment: { OUTSIDE: "x" } }).env).toEqual({
    A: "1",
    B: "x=y",
    OUTSIDE: "x",
  });
});

/** Compose specification, "privileged". */
test("privileged, for one service only", () => {
  expect(container("    privileged: true\n    cap_add: [SYS_TIME]\n")).toMatchObject({ privileged: true, noNewPrivileges: false });
  // As with Docker, programs of the image can have more rights than their user, unless the file says something else.
  expect(container("    privileged: false\n")).toMatchObject({ noNewPrivileges: false });
  expect(container("    privileged: false\n")).not.toHaveProperty("privileged");
});

/** Compose specification, "Interpolation". */
test("variables have defaults, and one that has to be there is told at its place", () => {
  expect(container(`    working_dir: "\${DIR:-/srv}/$$x"\n`).cwd).toBe("/srv/$x");
  expect(told(one(`    working_dir: \${DIR:?say where}\n`))).toEqual([
    "f:5:5: /services/web/working_dir: the variable DIR is not set: say where",
  ]);
});

test("a variable may give a truth or a number, as without quotes", () => {
  const fields = `    read_only: \${FIXED:-true}\n    tty: "\${TTY:-FALSE}"\n    pids_limit: \${PIDS}\n    scale: \${SCALE:-1}\n`;
  expect(container(fields, { environment: { PIDS: "20" } })).toMatchObject({ readonlyRootfs: true, pids: 20 });
  expect(container(fields, { environment: { PIDS: "20" } })).not.toHaveProperty("tty");
  const found = (text: string) => read(one(`    ${text}\n`)).findings.map(({ message }) => message);
  expect(found("read_only: maybe")).toEqual(["write true or false"]);
  expect(container("    read_only: yes\n    tty: 'off'\n")).toMatchObject({ readonlyRootfs: true });
  expect(found("pids_limit: many")).toEqual(["is no whole number"]);
  expect(container("    pids_limit: -1\n    mem_limit: 0\n")).not.toHaveProperty("pids");
});

/** Compose specification, "depends_on". */
test("depends_on as list and with conditions", () => {
  const text = (condition: string) =>
    `services:\n  job: { x-runt-rootfs: /r, command: x, healthcheck: { test: [CMD, ok] } }\n  web: { x-runt-rootfs: /r, command: x, depends_on: ${condition} }\n`;
  const dependsOn = (condition: string) => read(text(condition)).tasks[1]!.containers[0]!.dependsOn;
  expect(dependsOn("[job]")).toEqual([{ container: "job/job", condition: "START" }]);
  expect(dependsOn("{ job: { condition: service_healthy } }")).toEqual([{ container: "job/job", condition: "HEALTHY" }]);
  expect(dependsOn("{ job: { condition: service_completed_successfully } }")).toEqual([{ container: "job/job", condition: "SUCCESS" }]);
  expect(told(text("[nobody]"))).toEqual(["f:3:54: /services/web/depends_on/0: there is no service nobody"]);
});

/** Compose specification, "restart", "healthcheck", "stop_grace_period", "stop_signal". */
test("restart, health, and how it is stopped", () => {
  expect(container("").restart).toBeUndefined();
  expect(container("    restart: always\n").restart).toMatchObject({ enabled: true, ignoredExitCodes: [] });
  expect(container("    restart: on-failure:3\n").restart).toMatchObject({ ignoredExitCodes: [0], maximumCount: 3 });
  expect(only(one("    restart: unless-stopped\n")).start).toBe("always");
  expect(container("    healthcheck: { test: curl -f x, interval: 1m30s, retries: 2, start_period: 5s }\n").healthCheck).toEqual({
    command: ["/bin/sh", "-c", "curl -f x"],
    interval: 90_000,
    timeout: 30_000,
    retries: 2,
    startPeriod: 5000,
  });
  expect(container("    healthcheck: { test: [NONE] }\n").healthCheck).toBeUndefined();
  expect(container("    stop_signal: SIGINT\n    stop_grace_period: 3s\n")).toMatchObject({ stopSignal: "SIGINT", stopTimeout: 3000 });
  expect(container("").stopTimeout).toBe(10_000);
});

/** Compose Deploy specification, "resources"; Compose specification, "mem_limit", "cpus", "pids_limit". */
test("limits, in the words of before and in those of deploy", () => {
  const limits = { cpus: 0.5, memory: 64 * 2 ** 20, memoryReservation: 2 ** 20, pids: 9 };
  expect(
    container("    deploy: { resources: { limits: { cpus: '0.5', memory: 64M, pids: 9 }, reservations: { memory: 1m } } }\n"),
  ).toMatchObject(limits);
  expect(container("    cpus: 0.5\n    mem_limit: 64mb\n    mem_reservation: 1024k\n    pids_limit: 9\n")).toMatchObject(limits);
});

/** Compose specification, "volumes", "ports", "network_mode". */
test("directories of the host, scratch volumes, and ports of the host", () => {
  const task = only(
    one(
      "    volumes: [./data:/data:ro, ../up:/up, /cache, { type: bind, source: /etc, target: /e, read_only: true }]\n    ports: ['8080:80', '127.0.0.1:53:53/udp', { target: 1, published: '2' }]\n",
    ),
  );
  expect(task.volumes).toEqual([{ name: "anonymous-2" }]);
  expect(task.containers[0]!.mounts).toEqual([
    { source: "/srv/app/data", target: "/data", readOnly: true },
    { source: "/srv/up", target: "/up", readOnly: false },
    // The volume gets the files that the image has there.
    { volume: "anonymous-2", target: "/cache", readOnly: false, noCopy: false },
    { source: "/etc", target: "/e", readOnly: true },
  ]);
  expect(task.network).toMatchObject({
    mode: "bridge",
    ports: [
      { container: 80, host: 8080, protocol: "tcp" },
      { container: 53, host: 53, protocol: "udp", address: "127.0.0.1" },
      { container: 1, host: 2, protocol: "tcp" },
    ],
  });
  expect(only(one("    network_mode: host\n    pid: host\n    ipc: host\n")).namespaces).toEqual({
    pid: "host",
    ipc: "host",
    network: "host",
    uts: "host",
  });
});

/** Compose specification, "profiles", "extends", "Fragments", "Extension". */
/** Compose specification, "extends", "Finding referenced service"; paths as compose-go has them: relative to the file that they stand in. */
/** Compose specification, "container_name", "aliases", "depends_on", "sysctls". */
/** Unsupported and unknown fields are each reported by name, at their line and column. */
test.each([
  ["env_file: .env", "env_file", ".env: there is no such file"],
  ["networks: { a: { ipv6_address: fd00::2 } }", "networks/a/ipv6_address", "is not supported: networks have IPv4"],
  ["secrets: [{ source: a, uid: me }]", "secrets/0/uid", "is not a number of a user or group"],
  ["configs: [{ source: a, mode: rw }]", "configs/0/mode", "is no mode like 0400"],
  [
    "ports: ['80:80']\n    scale: 2",
    "ports",
    "80 can be the port of one container, and the service has 2 by scale: write a range, or only deploy.replicas",
  ],
  ["container_name: cc\n    scale: 2", "container_name", "is of one container, and the service has several"],
  ["privileged: perhaps", "privileged", "write true or false"],
  ["security_opt: ['systempaths=none']", "security_opt/0", "is not supported: only no-new-privileges"],
  ["user: 5", "user", "expected a string, not a number"],
  ["logging: { driver: splunk }", "logging/driver", "only json-file, local, journald, syslog, gelf, fluentd and none are supported"],
  ["ulimits: { files: 5 }", "ulimits", 'the field "files" is not supported'],
  ["memswap_limit: 1g\n    mem_limit: 2g", "memswap_limit", "less than memory"],
  ["platform: linux/s390x", "platform", "it is this machine's"],
  ["links: [nobody]", "links/0", "there is no service nobody"],
  ["volumes_from: [nobody]", "volumes_from/0", "there is no other service nobody"],
  ["extra_hosts: [a]", "extra_hosts/0", 'write a name and its address like "db=192.0.2.5"'],
  ["provider: { type: x }", "provider", "is not supported: programs of others do not run services"],
  ["build: { privileged: true }", "build/privileged", "steps of a build have no rights on the host"],
  ["build: { entitlements: [security.insecure] }", "build/entitlements/0", "only network.host is supported"],
  ["build: { isolation: hyperv }", "build/isolation", "it is of Windows"],
  ["build: { network: mine }", "build/network", "only default, none and host are supported"],
  ["build: { platforms: [linux/s390x] }", "build/platforms/0", "it is this machine's"],
  ["build: { dockerfile: D, dockerfile_inline: FROM x }", "build/dockerfile_inline", "takes the place of dockerfile"],
  ["build: git@host.example:a/b.git", "build/context", "only directories, and http://, https:// and git:// addresses"],
  ["build: { context: 'ssh://host/a' }", "build/context", "only directories"],
  ["build: { tags: ['A B'] }", "build/tags/0", "is no name of an image"],
  ["build: { secrets: [nothing] }", "build/secrets/0", "the file has no secret nothing"],
  ["build: { additional_contexts: { x: service:nobody } }", "build/additional_contexts/x", "there is no service nobody"],
  ["build: { additional_contexts: [x=service:web] }", "build/additional_contexts", "the image of web is not built before this one"],
  ["build: { extra_hosts: { a: host-gateway } }", "build/extra_hosts", "host-gateway is not supported"],
  ["build: { contxt: . }", "build/contxt", "is context meant?"],
  ["volumes: [{ type: volume, target: /d, volume: { subpath: ../x } }]", "volumes/0/volume/subpath", "is no path inside the volume"],
  [
    "volumes: [{ type: bind, source: ., target: /x, bind: { recursive: disabled } }]",
    "volumes/0/bind/recursive",
    "only enabled and readonly",
  ],
  ["pre_start: [{ command: a }]", "pre_start", "make it a service that this one depends on"],
  ["post_start: [{ command: a, privileged: true }]", "post_start/0/privileged", "only false is supported"],
  ["pre_stop: [{ command: a, working_dir: x }]", "pre_stop/0/working_dir", "is no absolute path of the container"],
  ["external_links: ['a:b:c']", "external_links/0", "write CONTAINER or CONTAINER:ALIAS"],
  ["external_links: [a]\n    network_mode: none", "external_links", "with network_mode none other containers are not found"],
  ["container_name: /x", "container_name", "use at least two of A-Z a-z 0-9 _ . -"],
  ["comand: x", "comand", 'the field "comand" is not supported: is command meant?'],
  ["healthcheck: { intervall: 5s }", "healthcheck/intervall", "is interval meant?"],
  ["volumes: ['/mnt:/mnt:rslave', 'data:/d:rslave']", "volumes/1", "rslave is of directories of the host"],
  ["network_mode: service:db", "network_mode", "there is no service db"],
  ["restart: sometimes", "restart", "is no, always, unless-stopped or on-failure[:N]"],
  ["stop_grace_period: soon", "stop_grace_period", "write a duration"],
  ["mem_limit: lots", "mem_limit", "write a size"],
  ["volumes: [data:/d]", "volumes/0", "the file has no volume data"],
  ["volumes: [~/d:/d]", "volumes/0", "whose home is meant is not known"],
  ["ports: ['80:']", "ports/0", "write a port like"],
  ["ports: ['80-90:70-75']", "ports/0", "80-90 are not as many ports as 70-75"],
  ["ports: ['70000:80']", "ports/0", "write a port like"],
  ["volumes: [':/x']", "volumes/0", "names no source"],
  ["volumes: ['C:\\x:/d']", "volumes/0", "is a path of Windows"],
  ["command: sh 'x", "command", "a quote is not closed"],
])("%s is refused by name", (field, pointer, message) => {
  const text = `services:\n  web:\n    ${field.startsWith("build") ? "image: a" : "x-runt-rootfs: /r"}\n    entrypoint: [x]\n    ${field}\n`;
  const found = read(text).findings.find((finding) => finding.pointer === `/services/web/${pointer}`);
  expect(found && { line: found.line, message: found.message }).toEqual({ line: 5, message: expect.stringContaining(message) });
});

test("what is said beside services is refused as well; other files are no Compose files", () => {
  expect(told(`${one("")}volumes: { data: { external: true, driver: local } }\nnetwork: {}\n`)).toEqual([
    "f:5:20: /volumes/data/external: is made by others: only its name can be said here",
    'f:6:1: /network: the field "network" is not supported: is networks meant?',
  ]);
  const images = ["nginx", "grafana/grafana:9", "localhost/x"].map(
    (image) => only(`services:\n  web: { image: ${image} }\n`).containers[0]!.image,
  );
  expect(images).toEqual([
    "docker://docker.io/library/nginx:latest",
    "docker://docker.io/grafana/grafana:9",
    "docker://localhost/x:latest",
  ]);
  expect(parseCompose("name: t\ncontainers: []\n", { environment: {}, profiles: [], directory: "/", readFile })).toBeUndefined();
});

test.each(["1", "[1]", "[{ user: a }, null]", "*a"])("a merge of %s is a finding and no error", (merged) => {
  const text = `x-a: &a [1]\nservices:\n  web:\n    image: nginx\n    <<: ${merged}\n`;
  expect(told(text)).toEqual(['f:1:1: what the key "<<" merges is a map, or a list of maps']);
});

/** Compose specification, "image", "command", "entrypoint", "pull_policy". */
test("an image says what the service does not; a command takes the place of its arguments, an entrypoint that of all", () => {
  const service = (fields: string) =>
    only(`services:\n  web:\n    image: registry.example/web:v1\n${fields}`).containers.map(({ image, pullPolicy, command, args }) => [
      image,
      pullPolicy,
      command,
      args,
    ])[0];
  const reference = "docker://registry.example/web:v1";
  expect(service("")).toEqual([reference, "prefer-cached", undefined, []]);
  expect(service("    command: serve -p 80\n    pull_policy: always\n")).toEqual([reference, "always", undefined, ["serve", "-p", "80"]]);
  expect(service("    entrypoint: [/run, -x]\n")).toEqual([reference, "prefer-cached", "/run", ["-x"]]);
  expect(service("    entrypoint: /run\n    command: [a]\n")).toEqual([reference, "prefer-cached", "/run", ["a"]]);
  expect(service("    entrypoint: []\n    command: [/a, b]\n")).toEqual([reference, "prefer-cached", "/a", ["b"]]);
  const wrong = (fields: string) => told(`services:\n  web:\n    image: registry.example/web:v1\n${fields}`);
  expect(wrong('    entrypoint: [""]\n')).toEqual([
    "f:4:5: /services/web/entrypoint: names no program, and takes the place of the image's arguments, too",
  ]);
  expect(wrong("    pull_policy: hourly\n")).toEqual([
    "f:4:5: /services/web/pull_policy: only always, missing, if_not_present, never, build, daily, weekly and every_DURATION are supported",
  ]);
  const refreshed = read("services: { web: { image: a.b/c:1, pull_policy: every_12h } }\n");
  expect(refreshed.tasks[0]!.containers[0]!.pullPolicy).toBe("always");
  expect(refreshed.warnings.map(({ message }) => message)).toEqual(["is as always: the registry is asked each time"]);
  expect(service("    pull_policy: never\n")?.[1]).toBe("never");
  const latest = only("services:\n  web: { image: registry.example/web, pull_policy: missing }\n").containers[0]!;
  expect(latest.pullPolicy).toBe("always");
});

/** Source: moby, daemon/commit.go, merge. */
test("an empty command is none; an empty entrypoint takes the place of that of the image, whose arguments stay", () => {
  const program = (fields: string) => {
    const { command, args, imageEntrypoint } = only(`services:\n  web:\n    image: a.example/web:v1\n${fields}`).containers[0]!;
    return [command, args, imageEntrypoint];
  };
  for (const empty of ["''", "[]", `\${X:-}`, "' '"]) {
    expect(program(`    command: ${empty}\n`)).toEqual([undefined, [], undefined]);
    expect(program(`    entrypoint: ${empty}\n`)).toEqual([undefined, [], false]);
    expect(program(`    entrypoint: ${empty}\n    command: ${empty}\n`)).toEqual([undefined, [], false]);
    expect(program(`    entrypoint: /run\n    command: ${empty}\n`)).toEqual(["/run", [], undefined]);
  }
  expect(program("    entrypoint: ['']\n    command: [a, b]\n")).toEqual(["a", ["b"], undefined]);
  expect(told("services: { web: { x-runt-rootfs: /r, entrypoint: [] } }\n")).toEqual([expect.stringContaining("needs a command")]);
});

test("a command that is a text ends at an operator of a shell, and a warning says what is left out", () => {
  const file = read(one("    post_start: [{ command: 'a && b' }]\n").replace("command: serve", "command: echo a; echo b"));
  expect(file.tasks[0]!.containers[0]).toMatchObject({ command: "echo", args: ["a"], postStart: { command: ["a"] } });
  expect(file.warnings.map(({ pointer, message }) => `${pointer}: ${message}`)).toEqual([
    expect.stringContaining('/services/web/command: "; echo b" is not passed on, as with Compose: only a shell runs it'),
    expect.stringContaining('/services/web/post_start/0/command: "&& b" is not passed on'),
  ]);
  expect(told(one("").replace("command: serve", "command: (a; b)"))).toEqual([expect.stringContaining('"(" is for a shell')]);
});

/** Compose specification, "env_file": later files take precedence over earlier ones, and `environment` over all files. */
test("variables of files, in their order and below environment; one that need not be there is left out", () => {
  expect(container("    env_file: web.env\n    environment: { C: c }\n", { environment: { WHO: "me" } }).env).toEqual({
    A: "1",
    B: "file me",
    C: "c",
  });
  const many = "    env_file: [web.env, { path: ./more.env }, { path: none.env, required: false }]\n    environment: { B: own }\n";
  expect(container(many, { environment: { OUTSIDE: "x" } }).env).toEqual({ A: "2", B: "own", OUTSIDE: "x" });
  expect(told(one("    env_file: [web.env, none.env]\n"))).toEqual(["f:5:25: /services/web/env_file/1: none.env: there is no such file"]);
});

/** Compose specification, "secrets", "configs": secrets are below /run/secrets, configs below /. Everyone can read them. */
test("secrets and configs are files, from files, variables and the text itself, and another content is another task", () => {
  const text = (more: string) =>
    `${one("    secrets: [token, { source: word, target: deep/word, mode: 0400 }]\n    configs: [{ source: conf, target: /etc/app.conf }, plain]\n")}secrets: { token: { file: ./token }, word: { environment: WORD } }\nconfigs: { conf: { content: "a=1${more}" }, plain: { content: p } }\n`;
  const task = only(text(""), { environment: { WORD: "w" } });
  const file = (content: string, mode = 0o444) => ({ content: Buffer.from(content).toString("base64"), encoding: "base64", mode });
  expect(task.volumes).toEqual([
    { name: "secrets", files: { "file-0": file("s3cr3t\n"), "file-1": file("w", 0o400) } },
    { name: "configs", files: { "file-0": file("a=1"), "file-1": file("p") } },
  ]);
  expect(task.containers[0]!.mounts.map(({ volume, subPath, target, readOnly }) => [volume, subPath, target, readOnly])).toEqual([
    ["secrets", "file-0", "/run/secrets/token", true],
    ["secrets", "file-1", "/run/secrets/deep/word", true],
    ["configs", "file-0", "/etc/app.conf", true],
    ["configs", "file-1", "/plain", true],
  ]);
  expect(told(one("    secrets: [token]\n"))).toEqual(["f:5:15: /services/web/secrets/0: the file has no secret token"]);
  expect(told(`${one("    secrets: [token]\n")}secrets: { token: { file: none } }\n`)).toEqual([
    expect.stringMatching(/^f:5:15: \/services\/web\/secrets\/0: the file of the secret token cannot be read: ENOENT/),
  ]);
});

/** Compose specification, "networks": services that name none are in the network "default". */
/** Compose specification, "depends_on", "required". */
/** Compose specification, "volumes". */
test("named volumes are directories that the engine keeps, one for each name", () => {
  const text = `${one("    volumes: [data:/d, data:/e:ro, { type: volume, source: other, target: /o }]\n")}volumes:\n  data:\n  other: { driver: local }\n`;
  const { volumes, containers } = only(text);
  expect(volumes).toEqual([
    { name: "data", kept: "data" },
    { name: "other", kept: "other" },
  ]);
  expect(containers[0]!.mounts.map(({ volume, target, readOnly }) => [volume, target, readOnly])).toEqual([
    ["data", "/d", false],
    ["data", "/e", true],
    ["other", "/o", false],
  ]);
});

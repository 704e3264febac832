import { expect, test } from "vitest";
import { renderFinding } from "../../engine/spec/index.ts";
import { type DropIns, parseQuadlet } from "./parse.ts";

const unit = (name: string, text: string) => ({ name, file: name, text });
const readFile = (path: string) => {
  if (path.endsWith("missing")) throw Object.assign(new Error("ENOENT: no such file or directory"), { code: "ENOENT" });
  return Buffer.from(`FROM=${path} "as it is"\n`);
};
/** @param files texts by the names of the files */
const read = (files: Readonly<Record<string, string>>, dropIns: readonly DropIns[] = []) =>
  parseQuadlet(
    Object.entries(files).map(([name, text]) => unit(name, text)),
    dropIns,
    { directory: "/srv/app", specifiers: { h: "/root", H: "host.example" }, readFile },
  );
const told = (files: Readonly<Record<string, string>>) => read(files).findings.map((one) => renderFinding(one, "f"));
const warned = (files: Readonly<Record<string, string>>) => read(files).warnings.map((one) => renderFinding(one, "f"));
const tasks = (files: Readonly<Record<string, string>>, dropIns: readonly DropIns[] = []) => {
  const { inputs, findings, tasks: specs } = read(files, dropIns);
  expect(findings).toEqual([]);
  expect(specs).toHaveLength(inputs.length);
  return inputs;
};
const web = (lines: string) => `[Container]\nRootfs=/r\nExec=serve\n${lines}`;
const container = (lines: string, others: Readonly<Record<string, string>> = {}) =>
  tasks({ "web.container": web(lines), ...others }).find(({ name }) => name === "web")!.containers[0]!;

/** As the generator of podman 5.4.2 reads it (quadlet --dryrun). */
test("the syntax of systemd: continued lines with comments between, quotes, escapes, specifiers, $$, and values that take back those before", () => {
  const text = `# head
[Container]
Image=docker.io/library/alpine:3
Exec=sh -c "echo 'a b' $$HOME %n %%" \\
  # a comment
  ; another one
  tail x"y z"w 'q"r'
Environment=OLD=1
Environment=
Environment=A=1 "B=two words" 'C=x' D=%N "F=a\\x20b\\n"
Label=a="b c" "d=e f"
[X-Other]
Anything=at all
`;
  expect(tasks({ "web.container": text })[0]!.containers[0]).toMatchObject({
    image: "docker://docker.io/library/alpine:3",
    args: ["sh", "-c", "echo 'a b' $HOME web.service %", "tail", "xy zw", 'q"r'],
    env: { A: "1", B: "two words", C: "x", D: "web", F: "a b\n" },
    annotations: { a: "b c", d: "e f" },
  });
});

test.each([
  ["Exec=a 'b", "Container/Exec: a quote is not closed"],
  [`Exec=a \${HOME}`, `Container/Exec: \${HOME} is a variable of systemd, which has no value here: write $$ for a dollar sign`],
  ["Exec=a $HOME", "Container/Exec: $HOME is a variable of systemd"],
  ["HostName=%m", "Container/HostName: the specifier %m is not supported"],
  ["HostName=a%", "write %% for a percent sign"],
  ["Exec=a \\xff", "Container/Exec: \\xff is no character: write it as it is"],
  ["Imag=x", "Container/Imag: is not supported: is Image meant?"],
  ["PodmanArgs=--privileged", "Container/PodmanArgs: is not supported: podman does not run here"],
  ["Secret=a", "Container/Secret: is not supported: there is no store of secrets"],
  ["Environment=A", 'Container/Environment: "A" is no NAME=VALUE'],
  ["Volume=data.volume:/d", "Container/Volume: there is no file data.volume"],
  ["Volume=data:/d:U", "Container/Volume: there is no option U of a mount"],
  ["Network=a.network", "Container/Network: there is no file a.network"],
  ["Network=pasta", "Container/Network: pasta is not supported"],
  ["IP=10.0.0.1", "Container/IP: needs one network of a file .network"],
  ["Pod=a", "Container/Pod: is the name of a file .pod"],
  ["Pod=a.pod", "Container/Pod: there is no file a.pod"],
  ["PublishPort=1-70000:80", "Container/PublishPort: write a port like"],
  ["Memory=lots", 'Container/Memory: write a size like "64m"'],
  ["Notify=healthy", "Container/Notify: needs HealthCmd"],
  ["HealthCmd=none\nNotify=healthy", "Container/Notify: needs HealthCmd"],
  ["HealthRetries=5", "Container/HealthRetries: needs HealthCmd"],
  ["Group=1", "Container/Group: needs User"],
  ["UserNS=keep-id", "Container/UserNS: keep-id is not supported: only host and auto are"],
  ["Image=docker.io/a", "Container/Rootfs: excludes Image"],
  ["AddDevice=-/dev/x", "Container/AddDevice: a device that may be missing is not supported"],
  ["EnvironmentFile=missing", "Container/EnvironmentFile: missing: there is no such file"],
  ["Mount=type=glob,src=/a,dst=/b", "Container/Mount: mounts of type glob are not supported"],
  ["Mount=type=bind,src=/a,dst=/b,idmap", "Container/Mount: the option idmap of a mount is not supported"],
  ["[Service]\nExecStartPre=/x", "Service/ExecStartPre: is not supported"],
  ["[Service]\nRestart=on-abort", "Service/Restart: on-abort is not supported"],
  ["[Service]\nType=dbus", "Service/Type: dbus is not supported"],
  ["[Unit]\nRequires=postgresql.service", "Unit/Requires: postgresql.service is of systemd, which does not start it for a task"],
  ["[Unit]\nAfter=db.container", "Unit/After: there is no file db.container"],
  ["[Timer]\nOnCalendar=daily", "Timer: is a section of systemd, which does not run here"],
  ["[Pod]\nPodName=x", "Pod: is no section of a file .container"],
  ["[Install]\nAlias=x.service", "Install/Alias: is not supported: a task has one name"],
])("refused by name: %s", (lines, message) => {
  expect(told({ "web.container": web(lines) }).join("\n")).toContain(message);
});

test.each([
  ["x", "web.container:1:1: is neither [SECTION] nor KEY=VALUE nor a comment"],
  ["A=b", "web.container:1:1: stands before the first [SECTION]"],
  ["[Container]\nImage=a\uFFFD", "web.container:2:1: has a character that is none of a text"],
  ["[Container]\nExec=a", "web.container:1:1: needs Image or Rootfs"],
  ["[Unit]\nDescription=a", "web.container:1:1: has no section [Container]"],
])("a file that is none: %j", (text, message) => expect(told({ "web.container": text })[0]).toBe(message));

test("volumes, mounts and directories in memory", () => {
  const lines = `Volume=./data:/data:ro
Volume=%h/x:/x
Volume=data.volume:/d
Volume=plain:/p
Volume=/anonymous
Volume=image.volume:/i
Tmpfs=/t:size=1m
Mount=type=tmpfs,"dst=/a,b",ro,tmpfs-size=2m,tmpfs-mode=750
Mount=type=volume,source=data.volume,destination=/e
Mount=type=bind,src=/s,target=/s2,readonly=true,bind-propagation=rslave
ReadOnly=true
ReadOnlyTmpfs=false
`;
  const others = {
    "data.volume": "[Volume]\nCopy=no\n",
    "image.volume": "[Volume]\nDriver=image\nImage=a.image\n",
    "a.image": "[Image]\nImage=quay.io/a/b:1\nPolicy=never\n",
  };
  const [task] = tasks({ "web.container": web(lines), ...others });
  const { mounts = [], readonlyRootfs } = task!.containers[0]!;
  const volumes = new Map(task!.volumes?.map(({ name, ...one }) => [name, one]));
  const shown = mounts.map(({ target, source, volume, readOnly, noCopy }) => [
    target,
    source ?? volumes.get(volume!),
    readOnly === true,
    noCopy,
  ]);
  expect(readonlyRootfs).toBe(true);
  expect(shown).toEqual([
    ["/data", "/srv/app/data", true, undefined],
    ["/x", "/root/x", false, undefined],
    ["/d", { kept: "systemd-data" }, false, true],
    ["/p", { kept: "plain" }, false, undefined],
    ["/anonymous", {}, false, false],
    ["/i", { image: "docker://quay.io/a/b:1", pullPolicy: "prefer-cached" }, true, undefined],
    ["/a,b", { medium: "memory", size: 2 * 1024 * 1024, mode: 0o750 }, true, undefined],
    ["/e", { kept: "systemd-data" }, false, true],
    ["/s2", "/s", true, undefined],
    ["/t", { medium: "memory", size: 1024 * 1024 }, false, undefined],
  ]);
});

test("limits, rights, checks, restarts and variables of files", () => {
  const lines = `Memory=64m
PidsLimit=10
Ulimit=nofile=1:2
AddCapability=CAP_SYS_TIME net_admin
DropCapability=all
NoNewPrivileges=true
User=1
Group=2
GroupAdd=video
Sysctl=net.core.somaxconn=5
StopTimeout=3
StopSignal=SIGINT
EnvironmentFile=./env
HealthCmd=curl x
HealthInterval=5s
HealthOnFailure=kill
HealthStartupCmd=["a","b"]
HealthStartupRetries=4
AddDevice=vendor.com/class=name
[Service]
Restart=on-failure
RestartSec=1min 2s
CPUQuota=50%
[Install]
WantedBy=default.target
`;
  const [task] = tasks({ "web.container": web(lines) });
  expect(task).toMatchObject({ start: "always", sysctls: { "net.core.somaxconn": "5" } });
  const check = { command: ["/bin/sh", "-c", "curl x"], interval: "5s" };
  expect(task!.containers[0]).toMatchObject({
    ...{ memory: 64 * 1024 * 1024, pids: 10, cpus: 0.5, rlimits: { nofile: { soft: 1, hard: 2 } }, user: "1:2", groups: ["video"] },
    capabilities: { add: ["CAP_SYS_TIME", "CAP_NET_ADMIN"], drop: ["ALL"] },
    ...{ noNewPrivileges: true, stopTimeout: "3s", stopSignal: "SIGINT", cdi: ["vendor.com/class=name"] },
    env: { FROM: '/srv/app/env "as it is"' },
    ...{ healthCheck: check, livenessCheck: check },
    startupCheck: { command: ["a", "b"], retries: 4, successes: 1 },
    restart: { backoff: { initial: "62000ms", maximum: "62000ms" }, ignoredExitCodes: [0] },
  });
  expect(container("")).not.toHaveProperty("restart");
  expect(tasks({ "a.container": "[Container]\nImage=quay.io/a\nUserNS=auto\n" })[0]).toMatchObject({ privateUsers: true });
});

test("a pod is one task; containers start after what [Unit] names, oneshots after their success; another container's network is joined", () => {
  const all = tasks({
    "shop.pod": "[Unit]\nAfter=cache.container\n[Pod]\nPublishPort=8080:80\nNetwork=net.network:ip=10.1.0.5\nHostName=shop\nVolume=/a:/b\n",
    "net.network": "[Network]\nSubnet=10.1.0.0/24\nOptions=mtu=1400\n",
    "setup.container": `${web("Pod=shop.pod")}\n[Service]\nType=oneshot\n`,
    "app.container": `${web("Pod=shop.pod\nContainerName=the-app")}\n[Unit]\nRequires=setup.service\n`,
    "cache.container": `${web("HealthCmd=x\nNotify=healthy\nNetwork=host")}\n[Unit]\nBefore=side.container\n`,
    "side.container": `${web("Network=cache.container")}\n[Unit]\nAfter=shop-pod.service multi-user.target\n`,
  });
  expect(all.map(({ name }) => name)).toEqual(["shop", "cache"]);
  const [shop, cache] = all;
  expect(shop).toMatchObject({
    ends: "all",
    network: {
      ...{ name: "net-network", address: "10.1.0.5", mtu: 1400, aliases: ["systemd-shop"] },
      ports: [{ container: 80, host: 8080, protocol: "tcp" }],
    },
  });
  const [app, setup] = shop!.containers;
  expect(app).toMatchObject({ name: "the-app", hostname: "shop", mounts: [{ source: "/a", target: "/b" }] });
  expect(app!.dependsOn).toEqual([
    { container: "cache/cache", condition: "HEALTHY" },
    { container: "setup", condition: "SUCCESS" },
  ]);
  expect(setup!.dependsOn).toEqual([{ container: "cache/cache", condition: "HEALTHY" }]);
  expect(cache!.containers.map(({ name }) => name)).toEqual(["cache", "side"]);
  expect(cache!.namespaces).toMatchObject({ network: "host" });
  const cycle = told({ "a.container": `${web("Network=b.container")}`, "b.container": `${web("Network=a.container")}` });
  expect(cycle.join("\n")).toContain("leads back to the container itself");
  expect(told({ "a.pod": "[Pod]\n" })).toEqual(["a.pod:1:1: no file .container names it as its pod"]);
  const member = { "a.pod": "[Pod]\n", "b.container": web("Pod=a.pod\nPublishPort=80") };
  expect(told(member)).toEqual(["b.container:5:1: Container/PublishPort: belongs to a.pod"]);
});

test("drop-ins count by their names, the most special one of a name; templates are started as instances", () => {
  const dropIn = (directory: string, name: string, text: string): DropIns => ({
    directory,
    files: [{ name, file: `${directory}/${name}`, text: `[Container]\n${text}\n` }],
  });
  const dropIns = [
    dropIn("container.d", "10.conf", "Environment=A=all"),
    dropIn("a-.container.d", "20.conf", "Environment=B=prefix"),
    dropIn("a-b.container.d", "10.conf", "Environment=A=own"),
  ];
  const [task] = tasks({ "a-b.container": web("") }, dropIns);
  expect(task!.containers[0]!.env).toEqual({ A: "own", B: "prefix" });
  const template = web("Environment=WHO=%i\n");
  expect(warned({ "t@.container": template })[0]).toContain("is a template, and nothing starts it");
  const instances = tasks({ "t@.container": `${template}[Install]\nDefaultInstance=one\n`, "t@two.container": template });
  expect(instances.map(({ name, containers }) => [name, containers[0]!.env])).toEqual([
    ["t-one", { WHO: "one" }],
    ["t-two", { WHO: "two" }],
  ]);
});

test("a file .kube names Kubernetes objects, and is applied alone; .build is refused; an image that nobody uses is told of", () => {
  const kube = "[Kube]\nYaml=pod.yaml\nConfigMap=/etc/map.yaml\n";
  expect(read({ "a.kube": kube }).kube.map(({ source }) => source)).toEqual(["/srv/app/pod.yaml", "/etc/map.yaml"]);
  expect(told({ "a.kube": kube, "web.container": web("") })[0]).toContain("a file .kube is applied alone");
  expect(told({ "a.kube": "[Kube]\nYaml=missing\n" })[0]).toContain("/srv/app/missing cannot be read");
  expect(told({ "a.build": "[Build]\n" })[0]).toContain("files .build are not supported");
  expect(warned({ "web.container": web("LogOpt=tag=x\nHealthMaxLogCount=3"), "a.image": "[Image]\nImage=quay.io/a\n" })).toEqual([
    "web.container:5:1: Container/HealthMaxLogCount: has no effect: results of checks are in the events of the task",
    "a.image:1:1: no file names it: the image is not pulled",
    "web.container:4:1: Container/LogOpt: has no effect: of a log only max-size and max-file are used",
  ]);
});

test("R13 AutoUpdate is the annotation that autoupdate honours, and gives the task an update, so that it can return", () => {
  const updated = (lines: string, others: Readonly<Record<string, string>> = {}) =>
    tasks({ "web.container": web(lines), ...others }).map(({ update, containers }) => [
      update,
      ...containers.map(({ annotations }) => annotations?.["io.containers.autoupdate"]),
    ]);
  expect(updated("AutoUpdate=registry")).toEqual([[{}, "registry"]]);
  expect(updated("AutoUpdate=local")).toEqual([[{}, "local"]]);
  expect(updated("Label=io.containers.autoupdate=registry")).toEqual([[{}, "registry"]]);
  expect(updated("AutoUpdate=disabled")).toEqual([[undefined, "disabled"]]);
  expect(updated("")).toEqual([[undefined, undefined]]);
  // What ends by itself would be a version that has failed.
  expect(updated("AutoUpdate=registry\n[Service]\nType=oneshot")).toEqual([[undefined, "registry"]]);
  const pod = { "shop.pod": "[Pod]\n", "db.container": web("Pod=shop.pod") };
  expect(updated("Pod=shop.pod\nAutoUpdate=registry", pod)).toEqual([[{}, undefined, "registry"]]);
  expect(told({ "web.container": web("AutoUpdate=daily") })).toEqual([
    "web.container:4:1: Container/AutoUpdate: daily is not supported: only registry and local are",
  ]);
  expect(warned({ "a.kube": "[Kube]\nYaml=pod.yaml\nAutoUpdate=registry\n" })[0]).toContain(
    "write the annotation io.containers.autoupdate",
  );
});

test("a finding of the daemon leads to its key", () => {
  const { origin } = read({ "web.container": web("Memory=64m\n") });
  const finding = { code: "shape", message: "m", pointer: "/containers/0/memory", document: 0, line: 9, column: 9 } as const;
  expect(renderFinding(origin(finding), "f")).toBe("web.container:4:1: Container/Memory: m");
});

test("large files are refused, or read in a time proportional to them", () => {
  const long = (line: string) => `[Container]\n${line.repeat(Math.floor(250_000 / line.length))}`;
  const before = process.cpuUsage().user;
  for (const line of ["Foo=1\n", "Exec='\n", "Environment=%n%n%n%n\n", "a\\\n", "[\n", "Volume=a:/b\n", "=\n", "Exec=\\\n#\n"])
    read({ "web.container": long(line) });
  read({ "web.container": `[Unit]\nAfter=${"a.container ".repeat(20_000)}\n[Container]\nRootfs=/r\n` });
  expect(told({ "web.container": "#".repeat(300_000) })[0]).toContain("has more than 262144 characters");
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(20);
});

import { expect, test } from "vitest";
import { CONFIG, one, only, SECRET, told } from "../../../test/support/engine/pod-file.ts";
import { parseFile } from "../index.ts";

test("volumes: scratch, of the host with its type, and files of ConfigMaps, Secrets, the pod itself and projections", () => {
  const mount = (name: string) => `    - { name: ${name}, mountPath: /${name} }\n`;
  const text = `${CONFIG}${SECRET}${one(
    `    volumeMounts:\n${["tmp", "dir", "conf", "keys", "self", "all"].map(mount).join("")}    - { name: conf, mountPath: /etc/app.ini, subPath: app.ini }\n`,
    `  volumes:
  - { name: tmp, emptyDir: {} }
  - { name: dir, hostPath: { path: /srv/data, type: DirectoryOrCreate } }
  - { name: conf, configMap: { name: conf, items: [{ key: app.ini, path: app.ini, mode: 0o600 }] } }
  - { name: keys, secret: { secretName: keys, defaultMode: 0o400 } }
  - { name: self, downwardAPI: { items: [{ path: labels, fieldRef: { fieldPath: metadata.labels } }] } }
  - { name: all, projected: { sources: [{ secret: { name: keys, items: [{ key: TOKEN, path: a/token }] } }, { configMap: { name: conf } }] } }
`,
  )}`.replace("  name: web", "  name: web\n  labels: { app: shop }");
  const { volumes, containers } = only(text);
  const utf8 = (content: string, mode = 0o644) => ({ content, encoding: "utf8", mode });
  expect(volumes).toEqual([
    { name: "tmp" },
    { name: "dir", host: "/srv/data", hostType: "DirectoryOrCreate" },
    { name: "conf", files: { "app.ini": utf8("a=1", 0o600) } },
    { name: "keys", files: { TOKEN: { content: "czNjcjN0", encoding: "base64", mode: 0o400 }, PLAIN: utf8("text", 0o400) } },
    { name: "self", files: { labels: utf8('app="shop"\n') } },
    {
      name: "all",
      files: { "a/token": { content: "czNjcjN0", encoding: "base64", mode: 0o644 }, PORT: utf8("80"), "app.ini": utf8("a=1") },
    },
  ]);
  expect(containers[0]!.mounts).toEqual([
    { volume: "tmp", target: "/tmp", readOnly: false },
    { volume: "dir", target: "/dir", readOnly: false },
    ...["conf", "keys", "self", "all"].map((name) => ({ volume: name, target: `/${name}`, readOnly: true })),
    { volume: "conf", subPath: "app.ini", target: "/etc/app.ini", readOnly: true },
  ]);
});

test("P4 scratch volumes in memory and with a size, whose group the pod has, and kernel parameters", () => {
  const task = only(
    one(
      "    volumeMounts: [{ name: m, mountPath: /m }]\n",
      `  securityContext: { fsGroup: 77, supplementalGroups: [5, 77], sysctls: [{ name: kernel.shm_rmid_forced, value: "1" }] }
  volumes:
  - { name: m, emptyDir: { medium: Memory, sizeLimit: 1Mi } }
  - { name: d, emptyDir: { sizeLimit: 2Mi } }
  - { name: n, emptyDir: { sizeLimit: 0 } }
  - { name: h, hostPath: { path: /srv } }
`,
    ),
  );
  expect(task.volumes).toEqual([
    { name: "m", medium: "memory", size: 2 ** 20, group: 77 },
    { name: "d", size: 2 ** 21, group: 77 },
    { name: "n", group: 77 },
    { name: "h", host: "/srv" },
  ]);
  expect(task.containers[0]!.groups).toEqual([5, 77]);
  expect(task.sysctls).toEqual({ "kernel.shm_rmid_forced": "1" });
  expect(told(one("", '  hostIPC: true\n  securityContext: { sysctls: [{ name: kernel.sem, value: "1" }] }\n'))).toEqual([
    expect.stringContaining("/spec/securityContext/sysctls: needs a namespaces.ipc: shared"),
  ]);
});

test("P4 name servers: where the host's own network is, and where the engine makes one", () => {
  const text = (spec: string, fields = "") => one(fields, spec);
  const given = '  dnsConfig: { nameservers: [192.0.2.53], options: [{ name: ndots, value: "3" }] }\n';
  const more = { servers: ["192.0.2.53"], search: [], options: ["ndots:3"] };
  const port = "    ports: [{ containerPort: 80, hostPort: 8080 }]\n";
  expect(only(text("")).network).not.toHaveProperty("dns");
  expect(only(text("  hostNetwork: true\n")).dns).toEqual({ inherit: true, servers: [], search: [], options: [] });
  expect(only(text(`${given}  hostNetwork: true\n`)).dns).toEqual({ inherit: true, ...more });
  expect(only(text(given)).network!.dns).toEqual({ inherit: true, ...more });
  expect(only(text(`${given}  dnsPolicy: None\n`)).network!.dns).toEqual(more);
  expect(only(text("", port)).network).not.toHaveProperty("dns");
  expect(only(text(`${given}  dnsPolicy: Default\n`, port))).toMatchObject({ network: { dns: { inherit: true, ...more } } });
  expect(only(text(given, port)).dns).toBeUndefined();
});

test("an image volume without a registry is one of Docker Hub, unless the host says where such names are", () => {
  const text = one("", "  volumes: [{ name: i, image: { reference: data:v1 } }]\n");
  expect(only(text).volumes).toMatchObject([{ image: "docker://docker.io/library/data:v1" }]);
  expect(parseFile(text, { name: "n", cpus: 1, memoryBytes: 1, images: "oci:/i" }).tasks[0]!.volumes).toMatchObject([
    { image: "oci:/i/data:v1" },
  ]);
});

/** Kubernetes reads YAML 1.1, in which modes start with 0. */
test("P4 a mode that begins with 0 is octal", () => {
  const { volumes } = only(CONFIG + one("", "  volumes: [{ name: c, configMap: { name: conf, defaultMode: 0400 } }]\n"));
  expect(Object.values(volumes[0]!.files!).map(({ mode }) => mode)).toEqual([0o400, 0o400]);
});

/** Source: Kubernetes 1.37, AtomicWriteVolumeUserFields, VolumeBindMountOptions, EmptyDirVolumeMode, H2CContainerProbe, GRPCContainerProbeTLS. */
test("what Kubernetes 1.37 has added: owners of files, options of mounts, and words that hold anyway", () => {
  const mounted = (options: string, own = "") =>
    one(`    volumeMounts: [{ name: v, mountPath: /v, bindMountOptions: ${options} }]\n${own}`, VOLUME);
  const VOLUME = `  volumes:
  - { name: v, projected: { defaultUser: 5, sources: [{ configMap: { name: conf, items: [{ key: PORT, path: p, user: 6 }] } }, { secret: { name: keys } }] } }
`;
  const { volumes, containers } = only(`${CONFIG}${SECRET}${mounted("[noexec, nodev, nosuid]")}`);
  expect(volumes[0]!.files).toMatchObject({ p: { uid: 6 }, TOKEN: { uid: 5 } });
  expect(containers[0]!.mounts[0]).toMatchObject({ noExec: true });
  expect(told(`${CONFIG}${SECRET}${mounted("[nodev]", "    securityContext: { privileged: true }\n")}`)).toEqual([
    expect.stringContaining("/volumeMounts/0/bindMountOptions: nodev is not supported for privileged containers"),
  ]);
  const probe = (fields: string) => one(`    readinessProbe: { ${fields} }\n`);
  expect(told(probe("httpGet: { port: 80, protocol: HTTP1 }"))).toEqual([]);
  expect(told(probe("httpGet: { port: 80, protocol: HTTP2 }"))).toEqual([expect.stringContaining('protocol: only "HTTP1" is supported')]);
  expect(told(probe("grpc: { port: 80, mode: Plaintext }"))).toEqual([]);
  expect(told(probe("grpc: { port: 80, mode: TLS }"))).toEqual([expect.stringContaining('mode: only "Plaintext" is supported')]);
  expect(told(one("", "  volumes: [{ name: e, emptyDir: { mode: 0o700 } }]\n"))).toEqual([
    expect.stringContaining("/emptyDir/mode: only 511 is supported: all users of the pod may write to it"),
  ]);
});

test("P4 a claim without a volume of the host has the group of the pod; a list of no keys is no list", () => {
  const text = `${CONFIG}---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: data }\nspec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }\n---\n${one(
    "    volumeMounts: [{ name: d, mountPath: /d }, { name: c, mountPath: /c }]\n",
    "  securityContext: { fsGroup: 77 }\n  volumes:\n  - { name: d, persistentVolumeClaim: { claimName: data } }\n  - { name: c, configMap: { name: conf, items: [] } }\n",
  )}`;
  const [claimed, files] = only(text).volumes!;
  expect(claimed).toEqual({ name: "d", kept: "data", group: 77 });
  expect(Object.keys(files!.files!)).toEqual(["PORT", "app.ini"]);
});

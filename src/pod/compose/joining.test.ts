import { expect, test } from "vitest";
import { one, read, told } from "../../../test/support/engine/compose-file.ts";

const OWNER = "  db: { x-runt-rootfs: /r, command: serve, container_name: store }\n";
const files = (fields: string, others = OWNER) => `${one(fields)}${others}`;

test.each(["service:db", "container:store"])(
  "pid and ipc of a service in another task (%s): both share them, and one /dev/shm",
  (value) => {
    const { tasks, findings } = read(
      files(`    pid: ${value}\n    ipc: ${value}\n    depends_on: [db]\n    init: true\n    shm_size: 1g\n`),
    );
    expect(findings).toEqual([]);
    const [web, db] = tasks;
    expect(web).toMatchObject({ joins: { pid: "db", ipc: "db" }, namespaces: { pid: "private", ipc: "private" } });
    expect(web!.containers[0]!.dependsOn).toEqual([{ container: "db/store", condition: "START", restart: true }]);
    expect(web!.containers[0]).not.toHaveProperty("shmSize");
    expect(db).toMatchObject({ namespaces: { pid: "shared", ipc: "shared", uts: "private" } });
    expect(db!.volumes).toEqual([{ name: "shared-memory", medium: "memory", size: 64 * 1024 ** 2 }]);
    expect(db!.containers[0]!.mounts).toEqual([{ volume: "shared-memory", target: "/dev/shm", noExec: true, readOnly: false }]);
  },
);

test("a service of which the other one shares the namespace of the host, or of a third, uses that", () => {
  const host = read(files("    pid: service:db\n", "  db: { x-runt-rootfs: /r, command: x, pid: host }\n"));
  expect(host.tasks.map(({ namespaces, joins }) => [namespaces.pid, joins])).toEqual([
    ["host", undefined],
    ["host", undefined],
  ]);
  const chain = read(files("    ipc: service:mid\n", `${OWNER}  mid: { x-runt-rootfs: /r, command: x, ipc: 'service:db' }\n`));
  expect(chain.findings).toEqual([]);
  expect(chain.tasks.map(({ joins }) => joins)).toEqual([{ ipc: "db" }, undefined, { ipc: "db" }]);
});

/** Source: Docker, "docker run --shm-size", "--ipc". */
test("the size of the shared memory is that of its owner, and a mount at its place stays", () => {
  const sized = read(
    files(
      "    ipc: service:db\n",
      "  db: { x-runt-rootfs: /r, command: x, shm_size: 1m, volumes: ['shared-memory:/d'] }\nvolumes: { shared-memory: }\n",
    ),
  );
  expect(sized.tasks[1]!.volumes).toContainEqual({ name: "shared-memory-1", medium: "memory", size: 1024 ** 2 });
  const own = read(files("    ipc: service:db\n", "  db: { x-runt-rootfs: /r, command: x, tmpfs: /dev/shm }\n"));
  expect(own.tasks[1]!.volumes).toEqual([{ name: "tmpfs-0", medium: "memory" }]);
});

test.each([
  ["pid: service:db", "  db: { x-runt-rootfs: /r, command: x, pid: 'service:web' }\n", "leads back to the service itself"],
  ["pid: service:db", `${OWNER}  c: { x-runt-rootfs: /r, command: x, network_mode: 'service:db' }\n`, "db and c share a network"],
  ["network_mode: service:c\n    pid: service:db", `${OWNER}  c: { x-runt-rootfs: /r, command: x }\n`, "web and c share a network"],
  ["pid: service:nobody", OWNER, "there is no service nobody"],
])("%s is refused by name", (fields, others, message) => {
  expect(told(files(`    ${fields}\n`, others))[0]).toMatch(new RegExp(`^f:\\d+:5: /services/web/pid: .*${message}`));
});

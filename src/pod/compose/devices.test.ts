/** Devices of a service. Comments give what `docker compose config` 2.40.3 accepts, and what Docker makes of it. */
import { expect, test } from "vitest";
import { container, one, read } from "../../../test/support/engine/compose-file.ts";

const refused = (fields: string) => read(one(`    ${fields}\n`)).findings.map(({ pointer, message }) => `${pointer.slice(14)}: ${message}`);
const cdiOf = (fields: string) => container(`    ${fields}\n`).cdi;
const reserved = (request: string) => `deploy: { resources: { reservations: { devices: [${request}] } } }`;

test("devices: short and long form, relative to the directory of the file, and names of CDI", () => {
  const list =
    "[/dev/fuse, './tty:/dev/tty0:rw', { source: /dev/sdb, target: /dev/xvdc, permissions: r }, { source: /dev/kvm, target: /dev/kvm }, 'acme.com/net=a_1']";
  expect(container(`    devices: ${list}\n    device_cgroup_rules: ["c 13:* rmw"]\n`)).toMatchObject({
    devices: [
      { source: "/dev/fuse" },
      { source: "/srv/app/tty", target: "/dev/tty0", access: "rw" },
      { source: "/dev/sdb", target: "/dev/xvdc", access: "r" },
      { source: "/dev/kvm" },
    ],
    deviceRules: ["c 13:* rmw"],
    cdi: ["acme.com/net=a_1"],
  });
});

test("gpus and reservations name devices of CDI: all, a number, or by id, of NVIDIA unless the driver says otherwise", () => {
  expect(cdiOf("gpus: all")).toEqual(["nvidia.com/gpu=all"]);
  expect(cdiOf("gpus: [{ count: 2 }, { driver: amd, device_ids: ['0'] }]")).toEqual([
    "nvidia.com/gpu=0",
    "nvidia.com/gpu=1",
    "amd.com/gpu=0",
  ]);
  expect(cdiOf(reserved("{ capabilities: [gpu, utility], count: -1 }"))).toEqual(["nvidia.com/gpu=all"]);
  expect(cdiOf(reserved("{ capabilities: [gpu], driver: nvidia, device_ids: ['3', GPU-1f] }"))).toEqual([
    "nvidia.com/gpu=3",
    "nvidia.com/gpu=GPU-1f",
  ]);
  expect(cdiOf(reserved("{ capabilities: [x], driver: cdi, device_ids: ['acme.com/net=eth0'] }"))).toEqual(["acme.com/net=eth0"]);
});

test.each([
  ["devices: ['a:b:c:d']", "devices/0: write a device like"],
  ["devices: ['/dev/a:dev']", "devices/0: dev is no absolute path of the container"],
  ["devices: ['/dev/a:/dev/a:rwx']", "devices: is made of r (read), w (write) and m"],
  ["device_cgroup_rules: [all]", 'device_cgroup_rules/0: write a rule like "c 1:3 rwm"'],
  ["gpus: some", "gpus: is all, or a list of requests"],
  ["gpus: [{ driver: intel }]", "gpus/0/driver: only nvidia, amd and cdi are supported"],
  ["gpus: [{ capabilities: [tpu] }]", "gpus/0: no driver is known for the capability tpu"],
  ["gpus: [{ driver: cdi }]", "gpus/0: needs device_ids"],
  [reserved("{ driver: nvidia }"), "deploy/resources/reservations/devices/0/capabilities: is missing"],
])("%s is refused by name", (field, message) => {
  expect(refused(field)).toEqual([expect.stringContaining(message)]);
});

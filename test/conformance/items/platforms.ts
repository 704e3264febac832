import * as assert from "../assert.ts";
import type { Change, Context } from "../context.ts";
import { group } from "../group.ts";
import { seenInside } from "../inside.ts";

/** Something that each section may really say. */
const SECTIONS: Readonly<Record<string, object>> = {
  windows: { layerFolders: ["C:\\layer"], resources: { memory: { limit: 1 } }, hyperv: { utilityVMPath: "C:\\vm" } },
  solaris: { milestone: "svc:/milestone/container:default", cappedCPU: { ncpus: "1" }, cappedMemory: { physical: "1m" } },
  freebsd: { jail: { host: "new", ip4: "disable" } },
  zos: { namespaces: [{ type: "pid", path: "/proc/1/ns/pid" }] },
  vm: { hypervisor: { path: "/no/such/hypervisor" }, kernel: { path: "/no/such/kernel" }, image: { path: "/no/image", format: "raw" } },
};

/** What runt notes about a configuration: with --debug, on stderr. */
async function notes(c: Context, change: Change): Promise<string> {
  const container = c.container(c.bundle(change));
  const result = await c.call(["--debug", "create", "--bundle", container.bundle, container.id]);
  assert.equal(result.status, 0, result.stderr);
  return result.stderr;
}

export const platforms = group("PLT", "other platform sections", ({ may, should }) => {
  may(1, "sections of other platforms are accepted with a note", async (c) => {
    for (const [name, section] of Object.entries(SECTIONS)) {
      const change: Change = (config) => Object.assign(config, { [name]: section });
      const container = await c.start(change);
      await container.delete("--force");
      if (c.isRunt) assert.ok((await notes(c, change)).includes(`${name} has no effect`), `${name} is not noted`);
    }
  });
  should(2, "for a vm section, a message says that no virtual machine is started", async (c) => {
    assert.match(await notes(c, (config) => Object.assign(config, { vm: SECTIONS["vm"] })), /no virtual machine/);
  });
  should(3, "sections and process fields of other platforms do not affect a Linux container", async (c) => {
    const plain = await seenInside(c);
    assert.match(plain, /^mnt$/m);
    const foreign = await seenInside(c, (config) => {
      Object.assign(config, SECTIONS);
      Object.assign(config.process, { commandLine: "cmd.exe /c echo windows" });
      Object.assign(config.process.user, { username: "Administrator" });
    });
    assert.equal(foreign, plain);
  });
  should(4, "a Windows root path is refused, and the error names it", async (c) => {
    for (const path of ["C:\\rootfs", "\\\\?\\Volume{e4cd4be1-dd3a-11e8-8f4f-806e6f6e6963}\\"]) {
      const { stderr } = await c.refused((config) => Object.assign(config.root, { path }), "/root/path");
      assert.match(stderr, /windows|no such file|not exist|invalid rootfs/i);
      if (c.isRunt) assert.match(stderr, /is a path of Windows/);
    }
  });
});

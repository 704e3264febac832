import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cpio } from "./cpio.ts";
import { neededBy } from "./modules.ts";
import { vmlinuxOf } from "./vmlinux.ts";

let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), "runt-guest-image."));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe("the guest image", () => {
  it("has an initrd that cpio unpacks", () => {
    const entries = [
      { path: "d", mode: 0o755 },
      { path: "d/file", content: Buffer.from("hello"), mode: 0o600 },
      { path: "empty", content: new Uint8Array(0), mode: 0o644 },
    ];
    const archive = cpio(entries);
    expect(archive.equals(cpio(entries))).toBe(true);
    execFileSync("busybox", ["cpio", "-idm"], { cwd: work, input: archive, stdio: ["pipe", "ignore", "ignore"] });
    expect(readFileSync(join(work, "d/file"), "utf8")).toBe("hello");
    expect(readFileSync(join(work, "empty"), "utf8")).toBe("");
  });

  it("has the kernel itself out of a bzImage", () => {
    const kernel = Buffer.from("\x7fELF and the rest");
    const payload = gzipSync(kernel);
    const image = Buffer.alloc(1024 + payload.length);
    image[0x1f1] = 1;
    image.write("HdrS", 0x202, "latin1");
    image.writeUInt32LE(0, 0x248);
    image.writeUInt32LE(payload.length, 0x24c);
    payload.copy(image, 1024);
    expect(vmlinuxOf(image)).toEqual(kernel);
    image.write("XdrS", 0x202, "latin1");
    expect(() => vmlinuxOf(image)).toThrow("not a bzImage");
    image.write("HdrS", 0x202, "latin1");
    image[1024] = 0;
    expect(() => vmlinuxOf(image)).toThrow("compressed in a way that is not known");
  });

  it("knows what a module needs", () => {
    writeFileSync(join(work, "m.ko"), "x\0depends=fuse,virtio\0name=y\0");
    expect(neededBy(readFileSync(join(work, "m.ko")))).toEqual(["fuse", "virtio"]);
    expect(neededBy(Buffer.from("x\0depends=\0"))).toEqual([]);
  });
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cpio } from "./cpio.ts";
import { neededBy } from "./modules.ts";
import { trimmed, vmlinuxOf } from "./vmlinux.ts";

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

  it("has a kernel without what is empty at its end", () => {
    const [header, program] = [64, 56];
    const kernel = Buffer.alloc(1000);
    kernel.writeBigUInt64LE(BigInt(header), 32);
    kernel.writeBigUInt64LE(900n, 40);
    for (const [at, value] of [
      [54, program],
      [56, 3],
      [60, 2],
      [62, 1],
    ] as const)
      kernel.writeUInt16LE(value, at);
    const segments = [
      [1, 400, 300, 500],
      [1, 300, 100, 100],
      [4, 800, 20, 20],
    ] as const;
    segments.forEach(([type, offset, fileSize, memorySize], index) => {
      const begin = header + index * program;
      kernel.writeUInt32LE(type, begin);
      for (const [at, value] of [
        [8, offset],
        [32, fileSize],
        [40, memorySize],
      ] as const) {
        kernel.writeBigUInt64LE(BigInt(value), begin + at);
      }
    });
    kernel.fill(7, 300, 450);
    const made = trimmed(kernel);
    expect(made.length).toBe(450);
    expect([made.readBigUInt64LE(header + 32), made.readBigUInt64LE(header + 40)]).toEqual([50n, 500n]);
    expect(made.readBigUInt64LE(header + program + 32)).toBe(100n);
    expect([made.readBigUInt64LE(40), made.readUInt16LE(60), made.readUInt16LE(62)]).toEqual([0n, 0, 0]);
    expect(made.subarray(300, 450)).toEqual(kernel.subarray(300, 450));
  });

  it("knows what a module needs", () => {
    writeFileSync(join(work, "m.ko"), "x\0depends=fuse,virtio\0name=y\0");
    expect(neededBy(readFileSync(join(work, "m.ko")))).toEqual(["fuse", "virtio"]);
    expect(neededBy(Buffer.from("x\0depends=\0"))).toEqual([]);
  });
});

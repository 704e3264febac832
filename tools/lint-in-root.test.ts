import { describe, expect, it } from "vitest";
import { helperCalls } from "./lint-in-root/c.ts";
import { runtimeCalls } from "./lint-in-root/typescript.ts";
import { compare } from "./lint-in-root.ts";

describe("calls of the helper", () => {
  it("are found with what says where they lead, however they are written", () => {
    const source = `
      /* sys_openat(AT_FDCWD, "/in/a/comment", 0, 0) */
      int a = sys_openat(root, "etc/passwd", O_RDONLY, 0); // sys_openat(root, "b", 0, 0)
      long b = sys(__NR_mknodat, run->slots[SLOT_ROOT].fd,
                   path.at + 1, op->type | (op->mode & 07777), number);
      sys(__NR_renameat2, from, name(1, 2), to, ", ) (", 0);
      sys(__NR_symlinkat, text, directory, name);
      sys_mount("tmpfs", "/x", "tmpfs", 0, NULL);
      sys(__NR_chdir, "/rootfs");
    `;
    expect(helperCalls(source)).toEqual([
      'openat(root, "etc/passwd")',
      "mknodat(run->slots[SLOT_ROOT].fd, path.at + 1)",
      'renameat2(from, name(1, 2), to, ", ) (")',
      "symlinkat(directory, name)",
      'mount("tmpfs", "/x")',
      'chdir("/rootfs")',
    ]);
  });

  it("without a path are none", () => {
    expect(
      helperCalls('sys(__NR_fchownat, fd, "", 0, 0, AT_EMPTY_PATH); sys(__NR_move_mount, fd, "", target, "", 6); sys_fstat(fd, &info);'),
    ).toEqual([]);
  });

  it("that only the test build makes are none", () => {
    const source = `
      if (DEFENCE_DISABLED(make_by_path)) sys(__NR_mkdirat, root, path + 1, mode);
      int fd = DEFENCE_DISABLED(held_proc) ? sys_openat(proc, f(a, b ? c : d), O_WRONLY, 0) : sys_openat(held, "self", 0, 0);
      sys_openat(proc, DEFENCE_DISABLED(held_proc) ? "/proc/self" : "self", 0, 0);
      if (!DEFENCE_DISABLED(x) && late) sys(__NR_unlinkat, directory, name, 0);
    `;
    expect(helperCalls(source)).toEqual(['openat(held, "self")', 'openat(proc, "self")', "unlinkat(directory, name)"]);
  });
});

describe("calls of the runtime", () => {
  it("are those whose path comes from a root file system", () => {
    const source = `
      import * as host from "../host/index.ts";
      function a({ rootfs }, config) {
        host.readFile(\`\${rootfs}/etc/passwd\`);
        host.stat(config.rootfs + "/etc");
        const shadow = \`\${rootfs}/etc/shadow\`;
        const { place } = { place: 1 };
        const copy = shadow;
        host.chmod(copy, 0o600);
        host.open("/etc/passwd", 0);
        host.open(place, 0);
        host.readlink(\`/proc/\${pid}/root/bin\`);
        host.readFile("/proc/1/root/etc/passwd");
        host.readFile(\`/proc/\${pid}/status\`);
        host.link("/x", rootfs);
        const fd = host.open(rootfs, 0);
        host.readdir(\`/proc/self/fd/\${fd}\`);
        host.openat(fd, "etc", 0);
        const text = host.readFile("/x");
        print(text);
      }`;
    expect(runtimeCalls(source)).toEqual([
      "readFile(`$" + "{rootfs}/etc/passwd`)",
      'stat(config.rootfs + "/etc")',
      "chmod(copy)",
      "readlink(`/proc/$" + "{pid}/root/bin`)",
      'readFile("/proc/1/root/etc/passwd")',
      'link("/x", rootfs)',
      "open(rootfs)",
      'openat(fd, "etc")',
    ]);
  });

  it("that only the test build makes are none", () => {
    expect(runtimeCalls('const a = defenceDisabled("root-link") ? host.stat(rootfs) : host.lstat(rootfs);')).toEqual(["lstat(rootfs)"]);
  });
});

describe("the rule", () => {
  const found = new Map([["native-bindings/init/new.c", ['openat(root, "etc")', "mkdirat(here, name)"]]]);

  it("refuses what the list does not have, and what only the list has", () => {
    expect(
      compare(found, {
        "native-bindings/init/new.c": { "mkdirat(here, name)": "held" },
        "native-bindings/init/old.c": { "chdir(path)": "gone" },
      }),
    ).toEqual([
      'native-bindings/init/new.c: openat(root, "etc"): is not in the list (tools/lint-in-root/allowed.ts)',
      "native-bindings/init/old.c: chdir(path): is in the list, and nowhere else",
    ]);
  });

  it("is content with a list that has everything", () => {
    expect(compare(found, { "native-bindings/init/new.c": { "mkdirat(here, name)": "held", 'openat(root, "etc")': "why not" } })).toEqual(
      [],
    );
  });
});

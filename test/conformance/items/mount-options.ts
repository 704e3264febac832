import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import * as assert from "../assert.ts";
import type { Change, Context } from "../context.ts";
import { group } from "../group.ts";
import {
  AT,
  accepted,
  accessTime,
  clears,
  clearsBelow,
  hostTree,
  inBound,
  ofTmpfs,
  ofTree,
  sets,
  setsBelow,
  superblock,
  tagged,
  tagsOf,
  takenByBind,
  withFile,
} from "../mounted.ts";

export const mountOptions = group("OPT", "mounts: option names", ({ must, should, may }) => {
  must(1, "async cancels sync", async (c) => {
    assert.ok(!(await ofTmpfs(c, ["sync", "async"])).superOptions.includes("sync"));
    await accepted("async")(c);
  });
  must(2, "atime cancels noatime", async (c) => {
    assert.notEqual(accessTime(await ofTmpfs(c, ["noatime", "atime"])), "noatime");
    await takenByBind(c, "atime");
  });
  must(3, "bind shows one mount, without the mounts below it", async (c) => {
    const source = hostTree(c, "rw");
    const container = await c.create((config) => config.mounts.push({ destination: AT, type: "none", source, options: ["bind"] }));
    const targets = (await container.mounts()).map(({ target }) => target);
    assert.ok(targets.includes(AT) && !targets.includes(`${AT}/sub`));
  });
  must(4, "defaults changes nothing, in any position", async (c) => {
    for (const options of [
      ["defaults", "nodev"],
      ["nodev", "defaults"],
    ]) {
      const { options: found, superOptions } = await ofTmpfs(c, options);
      assert.ok(found.includes("nodev") && !superOptions.includes("defaults"));
    }
  });
  must(5, "dev cancels nodev", clears("dev", "nodev"));
  must(6, "diratime cancels nodiratime", async (c) => {
    assert.ok(!(await ofTmpfs(c, ["nodiratime", "diratime"])).options.includes("nodiratime"));
    await takenByBind(c, "diratime");
  });
  must(7, "dirsync makes changes of directories synchronous", (c) => superblock(c, "dirsync"));
  must(8, "exec cancels noexec", clears("exec", "noexec"));
  must(9, "iversion is understood", accepted("iversion"));
  must(10, "lazytime is in force", (c) => superblock(c, "lazytime"));
  must(11, "loud is understood", accepted("loud"));
  may(12, "mand and nomand are accepted, although the kernel no longer has mandatory locks", async (c) => {
    for (const word of ["mand", "nomand"]) {
      assert.ok(!(await ofTmpfs(c, [word])).options.includes(word));
      await takenByBind(c, word);
    }
  });
  must(13, "noatime: reading leaves the access time alone", async (c) => {
    assert.equal(accessTime(await ofTmpfs(c, ["noatime"])), "noatime");
    assert.notEqual(accessTime(await ofTmpfs(c, [])), "noatime");
  });
  must(14, "nodev: device nodes cannot be opened", async (c) => {
    await sets("nodev", "nodev")(c);
    const tree = hostTree(c, "rw");
    execFileSync("mknod", ["-m", "666", join(tree, "null"), "c", "1", "3"]);
    assert.equal(await inBound(c, tree, [], "cat /mnt/null"), "");
    assert.match(await inBound(c, tree, ["nodev"], "cat /mnt/null"), /Permission denied/);
  });
  must(15, "nodiratime is set", sets("nodiratime", "nodiratime"));
  must(16, "noexec: programs cannot be executed", async (c) => {
    await sets("noexec", "noexec")(c);
    const tree = withFile(c);
    assert.equal(await inBound(c, tree, [], "/mnt/program"), "ran\n");
    assert.match(await inBound(c, tree, ["noexec"], "/mnt/program"), /Permission denied/);
  });
  must(17, "noiversion is understood", accepted("noiversion"));
  must(18, "nolazytime cancels lazytime", (c) => superblock(c, "lazytime", "nolazytime"));
  must(19, "norelatime cancels relatime", async (c) => {
    assert.equal(accessTime(await ofTmpfs(c, ["noatime", "norelatime"])), "noatime");
    const { options, superOptions } = await ofTmpfs(c, ["norelatime"]);
    assert.ok(!options.includes("norelatime") && !superOptions.includes("norelatime"));
  });
  must(20, "nostrictatime cancels strictatime", async (c) => {
    assert.equal(accessTime(await ofTmpfs(c, ["strictatime", "nostrictatime"])), "relatime");
  });
  must(21, "nosuid is set", sets("nosuid", "nosuid"));
  should(22, "nosymfollow: links are not followed", async (c) => {
    await sets("nosymfollow", "nosymfollow")(c);
    const tree = withFile(c);
    assert.equal(await inBound(c, tree, [], "cat /mnt/link"), "content\n");
    assert.match(await inBound(c, tree, ["nosymfollow"], "cat /mnt/link"), /Too many levels of symbolic links/i);
  });
  must(23, "private stops propagation for this mount, but not for those below", async (c) => {
    const { top, sub } = await tagsOf(c, "private");
    assert.deepEqual(top, []);
    assert.ok(sub.length > 0, "the submount is private too");
  });
  should(24, "ratime cancels noatime in the whole tree", async (c) => {
    const { top, sub } = await ofTree(c, hostTree(c, "noatime"), ["rbind", "ratime"]);
    assert.ok(accessTime(top) !== "noatime" && accessTime(sub) !== "noatime");
  });
  must(25, "rbind also shows the mounts below", async (c) => {
    const { sub } = await ofTree(c, hostTree(c, "rw"), ["rbind"]);
    assert.equal(sub.fstype, "tmpfs");
  });
  should(26, "rdev cancels nodev in the whole tree", clearsBelow("rdev", "nodev"));
  should(27, "rdiratime cancels nodiratime in the whole tree", clearsBelow("rdiratime", "nodiratime"));
  must(28, "relatime is set", async (c) => {
    assert.equal(accessTime(await ofTmpfs(c, ["strictatime", "relatime"])), "relatime");
    assert.equal(accessTime((await ofTree(c, hostTree(c, "noatime"), ["rbind", "relatime"])).top), "relatime");
  });
  must(29, "remount changes the mount that an earlier entry made", async (c) => {
    const container = await c.create((config) => {
      config.mounts.push({ destination: AT, type: "tmpfs", source: "tmpfs", options: ["nosuid"] });
      config.mounts.push({ destination: AT, type: "tmpfs", source: "tmpfs", options: ["remount", "ro", "nosuid"] });
    });
    const found = (await container.mounts()).filter(({ target }) => target === AT);
    assert.equal(found.length, 1);
    assert.ok(found[0]?.options.includes("ro"));
  });
  should(30, "rexec cancels noexec in the whole tree", clearsBelow("rexec", "noexec"));
  should(31, "rnoatime is set in the whole tree, whatever the previous mode was", async (c) => {
    for (const before of ["rw", "strictatime"]) {
      const { top, sub } = await ofTree(c, hostTree(c, before), ["rbind", "rnoatime"]);
      assert.deepEqual([accessTime(top), accessTime(sub)], ["noatime", "noatime"]);
    }
  });
  should(32, "rnodev is set in the whole tree", setsBelow("rnodev", "nodev"));
  should(33, "rnodiratime is set in the whole tree", setsBelow("rnodiratime", "nodiratime"));
  should(34, "rnoexec: programs below cannot be executed either", async (c) => {
    await setsBelow("rnoexec", "noexec")(c);
    assert.match(await inBound(c, withFile(c), ["rnoexec"], "/mnt/sub/program"), /Permission denied/);
  });
  should(35, "rnorelatime cancels relatime in the whole tree", async (c) => {
    const { options, superOptions } = (await ofTree(c, hostTree(c, "rw"), ["rbind", "rnorelatime"])).sub;
    assert.ok(!options.includes("rnorelatime") && !superOptions.includes("rnorelatime") && !options.includes("noatime"));
  });
  should(36, "rnostrictatime cancels strictatime in the whole tree", async (c) => {
    const { top, sub } = await ofTree(c, hostTree(c, "strictatime"), ["rbind", "rnostrictatime"]);
    assert.deepEqual([accessTime(top), accessTime(sub)], ["relatime", "relatime"]);
  });
  should(37, "rnosuid is set in the whole tree", setsBelow("rnosuid", "nosuid"));
  should(38, "rnosymfollow: links below are not followed either", async (c) => {
    await setsBelow("rnosymfollow", "nosymfollow")(c);
    assert.match(await inBound(c, withFile(c), ["rnosymfollow"], "cat /mnt/sub/link"), /Too many levels of symbolic links/i);
  });
  must(39, "ro: nothing can be written, also through a bind", async (c) => {
    assert.ok((await ofTmpfs(c, ["ro"])).options.includes("ro"));
    const tree = withFile(c);
    assert.match(await inBound(c, tree, ["ro"], "touch /mnt/new"), /Read-only file system/);
    assert.equal(await inBound(c, tree, ["ro"], "touch /mnt/sub/new"), "");
  });
  must(40, "rprivate stops propagation for the whole tree", async (c) => {
    assert.deepEqual(await tagsOf(c, "rprivate"), { top: [], sub: [] });
  });
  should(41, "rrelatime is set in the whole tree", async (c) => {
    const { top, sub } = await ofTree(c, hostTree(c, "noatime"), ["rbind", "rrelatime"]);
    assert.deepEqual([accessTime(top), accessTime(sub)], ["relatime", "relatime"]);
  });
  should(42, "rro: nothing can be written below either", async (c) => {
    const said = await inBound(c, withFile(c), ["rro"], "touch /mnt/new; touch /mnt/sub/new");
    assert.equal(said.match(/Read-only file system/g)?.length, 2);
  });
  should(43, "rrw makes the whole tree writable again", async (c) => {
    const tree = hostTree(c, "ro");
    assert.match(await inBound(c, tree, [], "touch /mnt/sub/new"), /Read-only file system/);
    assert.equal(await inBound(c, tree, ["rrw"], "touch /mnt/new /mnt/sub/new"), "");
  });
  must(44, "rshared puts every mount of the tree into a peer group", async (c) => {
    const { top, sub } = await ofTree(c, hostTree(c, "rw"), ["rbind", "rshared"]);
    assert.ok(tagged(top.tags, "shared:") && tagged(sub.tags, "shared:"));
  });
  must(45, "rslave makes every mount of the tree a slave", async (c) => {
    const { top, sub } = await tagsOf(c, "rslave");
    assert.ok(tagged(top, "master:") && tagged(sub, "master:") && !tagged(top, "shared:"));
  });
  should(46, "rstrictatime is set in the whole tree", async (c) => {
    const { top, sub } = await ofTree(c, hostTree(c, "noatime"), ["rbind", "rstrictatime"]);
    assert.deepEqual([accessTime(top), accessTime(sub)], ["strictatime", "strictatime"]);
  });
  should(47, "rsuid cancels nosuid in the whole tree", clearsBelow("rsuid", "nosuid"));
  should(48, "rsymfollow: links are followed again in the whole tree", async (c) => {
    const tree = withFile(c);
    for (const at of [join(tree, "sub"), tree]) execFileSync("mount", ["-o", "remount,bind,nosymfollow", at]);
    const { top, sub } = await ofTree(c, tree, ["rbind", "rsymfollow"]);
    assert.ok(!top.options.includes("nosymfollow") && !sub.options.includes("nosymfollow"));
    assert.equal(await inBound(c, tree, ["rsymfollow"], "cat /mnt/sub/link"), "content\n");
  });
  must(49, "runbindable: no mount of the tree can be bound", async (c) => {
    const { top, sub } = await ofTree(c, hostTree(c, "rw"), ["rbind", "runbindable"]);
    assert.ok(tagged(top.tags, "unbindable") && tagged(sub.tags, "unbindable"));
  });
  must(50, "rw: the mount can be written to; the later option wins", async (c) => {
    assert.ok((await ofTmpfs(c, ["ro", "rw"])).options.includes("rw"));
    assert.equal(await inBound(c, hostTree(c, "ro", "ro"), ["rw"], "touch /mnt/new"), "");
  });
  must(51, "shared puts this mount, and none below, into a peer group", async (c) => {
    const { top, sub } = await ofTree(c, hostTree(c, "rw"), ["rbind", "shared"]);
    assert.ok(tagged(top.tags, "shared:"));
    assert.ok(!tagged(sub.tags, "shared:"), "the submount is shared too");
  });
  must(52, "silent is understood", accepted("silent"));
  must(53, "slave makes this mount, and none below, a slave", async (c) => {
    const { top } = await tagsOf(c, "slave");
    assert.ok(tagged(top, "master:") && !tagged(top, "shared:"));
    const shared = await ofTree(c, hostTree(c, "rw"), ["rbind", "rshared", "slave"]);
    assert.ok(!tagged(shared.top.tags, "shared:") && tagged(shared.sub.tags, "shared:"), "the submount is a slave too");
  });
  must(54, "strictatime: every access updates the time", async (c) => {
    assert.equal(accessTime(await ofTmpfs(c, ["strictatime"])), "strictatime");
    assert.notEqual(accessTime(await ofTmpfs(c, [])), "strictatime");
  });
  must(55, "suid cancels nosuid", clears("suid", "nosuid"));
  should(56, "symfollow cancels nosymfollow", clears("symfollow", "nosymfollow"));
  must(57, "sync makes writes synchronous", (c) => superblock(c, "sync", "async"));
  may(58, "tmpcopyup: a new tmpfs starts with a copy of what it covers; on another file system it is refused", async (c) => {
    const rootfs = c.rootfs();
    mkdirSync(join(rootfs, "data/inner"), { recursive: true });
    writeFileSync(join(rootfs, "data/inner/file"), "copied\n");
    chmodSync(join(rootfs, "data/inner/file"), 0o640);
    chownSync(join(rootfs, "data/inner/file"), 12, 34);
    const container = await c.create((config) => {
      config.root.path = rootfs;
      config.mounts.push({ destination: "/data", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"] });
    });
    assert.equal((await container.mount("/data")).fstype, "tmpfs");
    const { mode, uid, gid } = statSync(await container.path("/data/inner/file"));
    assert.deepEqual([mode & 0o7777, uid, gid], [0o640, 12, 34]);
    await c.refused(
      (config) => config.mounts.push({ destination: AT, type: "ramfs", source: "none", options: ["tmpcopyup"] }),
      /^\/mounts\/6/,
    );
  });
  must(59, "unbindable: the mount cannot be bound", async (c) => {
    const { top, sub } = await ofTree(c, hostTree(c, "rw"), ["rbind", "unbindable"]);
    assert.ok(tagged(top.tags, "unbindable") && !tagged(sub.tags, "unbindable"));
  });
  const MAPPING = { containerID: 0, hostID: 1000, size: 100 };
  /** Owner, in the container, of what belongs to 1 on the host: of the top and of the submount. */
  const owners = async (c: Context, options: readonly string[], extra: object, userNamespace = false): Promise<string[]> => {
    const tree = withFile(c);
    for (const at of [tree, join(tree, "sub")]) chownSync(join(at, "file"), 1, 1);
    const output = await c.output("stat -c %u:%g /mnt/file /mnt/sub/file", (config) => {
      config.mounts.push({ destination: AT, type: "none", source: tree, options: ["rbind", ...options], ...extra });
      if (!userNamespace) return;
      config.linux.namespaces.push({ type: "user" });
      Object.assign(config.linux, {
        uidMappings: [{ containerID: 0, hostID: 5000, size: 100 }],
        gidMappings: [{ containerID: 0, hostID: 5000, size: 100 }],
      });
    });
    return output.trim().split("\n");
  };
  should(60, "idmap applies the mapping to this mount only", async (c) => {
    const mappings = { uidMappings: [MAPPING], gidMappings: [MAPPING] };
    assert.deepEqual(await owners(c, ["idmap"], mappings), ["1001:1001", "1:1"]);
    // The others map binds only, and Linux maps a tmpfs since 6.3.
    const [major = 0, minor = 0] = release().split(".").map(Number);
    if (!c.isRunt || major < 6 || (major === 6 && minor < 3)) return;
    const owner = await c.output("stat -c %u:%g /mnt", (config) => {
      config.mounts.push({ destination: AT, type: "tmpfs", source: "tmpfs", options: ["idmap"], ...mappings });
    });
    assert.equal(owner, "1000:1000\n");
  });
  must(61, "idmap without mappings uses those of the container's user namespace", async (c) => {
    assert.deepEqual(await owners(c, ["idmap"], {}, true), ["1:1", "65534:65534"]);
    const own = { uidMappings: [{ containerID: 0, hostID: 5010, size: 10 }], gidMappings: [{ containerID: 0, hostID: 5010, size: 10 }] };
    assert.deepEqual((await owners(c, ["idmap"], own, true))[0], "11:11");
  });
  must(62, "idmap and ridmap are refused without mappings and without a user namespace", async (c) => {
    const source = c.scratch();
    for (const word of ["idmap", "ridmap"]) {
      await c.refused((config) => config.mounts.push({ destination: AT, type: "none", source, options: ["bind", word] }), /^\/mounts\/6/);
    }
  });
  should(63, "ridmap applies the mapping to the whole tree", async (c) => {
    const mappings = { uidMappings: [MAPPING], gidMappings: [MAPPING] };
    assert.deepEqual(await owners(c, ["ridmap"], mappings), ["1001:1001", "1001:1001"]);
  });
  may(64, "if two options are opposite, the later one wins", async (c) => {
    for (const [first, second, flag] of [
      ["ro", "rw", "rw"],
      ["rw", "ro", "ro"],
      ["dev", "nodev", "nodev"],
      ["exec", "noexec", "noexec"],
      ["suid", "nosuid", "nosuid"],
    ] as const) {
      assert.ok((await ofTmpfs(c, [first, second])).options.includes(flag), `${first},${second}`);
    }
  });
  may(65, "crun's additional options work as in crun, and never reach a file system as data", async (c) => {
    if (c.runtime.name === "runc") c.skip("words of crun");
    const tree = withFile(c);
    const container = await c.create((config) => {
      config.root.path = c.rootfs();
      config.mounts.push({ destination: "/copied", type: "none", source: join(tree, "link"), options: ["bind", "copy-symlink"] });
      config.mounts.push({ destination: "/linked", type: "none", source: join(tree, "link"), options: ["bind", "src-nofollow"] });
    });
    assert.ok(lstatSync(await container.path("/copied")).isSymbolicLink());
    assert.ok(lstatSync(await container.path("/linked")).isSymbolicLink());
  });
  should(
    66,
    "a bind mount with an option for a flag has only the given flags, not those of its source, except for the access time",
    async (c) => {
      const tree = hostTree(c, "ro,nosuid,nodev,noexec,noatime");
      const flags = async (...words: string[]) => (await ofTree(c, tree, ["rbind", ...words])).top.options;
      const asked = ["ro", "nosuid", "nodev", "noexec"];
      const kept = async (...words: string[]) => {
        const found = await flags(...words);
        return asked.filter((flag) => found.includes(flag));
      };
      assert.deepEqual(await kept(), asked);
      assert.deepEqual(await kept("rprivate"), asked);
      for (const word of asked) assert.deepEqual(await kept(word), [word]);
      for (const word of ["rw", "suid", "dev", "exec"]) assert.deepEqual(await kept(word), []);
      for (const word of ["ro", "dev", "atime"]) assert.ok((await flags(word)).includes("noatime"), word);
      assert.ok((await flags("relatime")).includes("relatime"));
    },
  );
  must(67, "in a user namespace, flags of the host's mount stay if they are not named; clearing one is refused", async (c) => {
    const tree = hostTree(c, "ro,nosuid,noatime");
    const rootfs = c.rootfs();
    execFileSync("chown", ["-hR", "100000:100000", rootfs]);
    const ids = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
    const inside =
      (words: readonly string[]): Change =>
      (config) => {
        config.root.path = rootfs;
        config.linux.namespaces.push({ type: "user" });
        Object.assign(config.linux, { uidMappings: ids, gidMappings: ids });
        config.process.capabilities = { bounding: ["CAP_SYS_ADMIN"], effective: ["CAP_SYS_ADMIN"], permitted: ["CAP_SYS_ADMIN"] };
        config.mounts.push({ destination: AT, type: "none", source: tree, options: ["rbind", ...words] });
      };
    const command = `mount -o remount,bind,rw ${AT} 2>/dev/null; grep ' ${AT} ' /proc/self/mountinfo | cut -d' ' -f6`;
    assert.equal((await c.output(command, inside([]))).trim(), "ro,nosuid,noatime");
    assert.equal((await c.output(command, inside(["nodev"]))).trim(), "ro,nosuid,nodev,noatime");
    for (const word of ["rw", "suid", "relatime"]) await c.refused(inside([word]), /^\/mounts\/6/);
  });
});

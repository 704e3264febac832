import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeScratch, openSource, removeScratch } from "./index.ts";

const checkSource = (...asked: Parameters<typeof openSource>) => closeSync(openSource(...asked).fd);

const directory = mkdtempSync(join(tmpdir(), "runt-volumes-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a scratch volume is for every user, whatever the umask", () => {
  const path = join(directory, "a/b");
  const before = process.umask(0o077);
  try {
    makeScratch(path);
    makeScratch(path);
  } finally {
    process.umask(before);
  }
  expect(statSync(path).mode & 0o777).toBe(0o777);
});

test("it goes with names that are no text, with directories deeper than a path can be long, and without what its links lead to", async () => {
  const path = join(directory, "volume");
  makeScratch(path);
  writeFileSync(join(directory, "outside"), "stays");
  mkdirSync(join(directory, "other"));
  writeFileSync(join(directory, "other/file"), "stays");
  symlinkSync(join(directory, "outside"), join(path, "link"));
  symlinkSync(join(directory, "other"), join(path, "directory-link"));
  writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff, 0xfe, 0x2e])]), "");
  mkdirSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0x80])]));
  const deep = "i=0; n=$(printf '%0200d' 0); while [ $i -lt 60 ]; do mkdir $n; cd -P $n; : > file; i=$((i+1)); done";
  execFileSync("sh", ["-c", deep], { cwd: path });
  await removeScratch(path);
  expect(existsSync(path)).toBe(false);
  expect(readFileSync(join(directory, "outside"), "utf8")).toBe("stays");
  expect(readFileSync(join(directory, "other/file"), "utf8")).toBe("stays");
  await removeScratch(path);
});

test("a link or a file in the place of a volume is removed itself", async () => {
  const path = join(directory, "planted");
  symlinkSync(join(directory, "other"), path);
  await removeScratch(path);
  expect([existsSync(path), readdirSync(join(directory, "other"))]).toEqual([false, ["file"]]);
  writeFileSync(path, "");
  await removeScratch(path);
  expect(existsSync(path)).toBe(false);
});

test("a source with a link anywhere on its way is refused, with the path to write instead; one that is missing is named", () => {
  mkdirSync(join(directory, "real/in"), { recursive: true });
  writeFileSync(join(directory, "real/file"), "");
  symlinkSync(join(directory, "real"), join(directory, "way"));
  const open = openDescriptors();
  for (const path of ["real/in", "real/file"]) checkSource(join(directory, path));
  expect(() => checkSource(join(directory, "way/in"))).toThrow(
    `${directory}/way is a symbolic link (${directory}/way/in leads to ${directory}/real/in)`,
  );
  expect(() => checkSource(join(directory, "real/no/more"))).toThrow(`${directory}/real/no is not there`);
  expect(() => checkSource(join(directory, "real/file/below"))).toThrow(
    `${directory}/real/file/below is below something that is not a directory`,
  );
  expect(openDescriptors()).toBe(open);
});

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

test("what has to be a directory, a file or a socket is no other", () => {
  const file = join(directory, "plain");
  writeFileSync(file, "");
  checkSource(file, "File");
  checkSource(directory, "Directory");
  expect(() => checkSource(file, "Directory")).toThrow(`${file} is not a directory`);
  expect(() => checkSource(directory, "File")).toThrow("is not a file");
  expect(() => checkSource(file, "Socket")).toThrow("is not a socket");
  checkSource("/dev/null", "CharDevice");
  expect(() => checkSource(file, "CharDevice")).toThrow("is not a character device");
  expect(() => checkSource("/dev/null", "BlockDevice")).toThrow("is not a block device");
});

/**
 * Kubernetes, HostPathType: "If nothing exists at the given path, an empty directory will be created there as needed with file mode 0755"; a file
 * with 0644.
 */
test("what is missing is made where the type says so, with the mode that the umask leaves", () => {
  const before = process.umask(0o027);
  try {
    checkSource(join(directory, "made/deep"), "DirectoryOrCreate");
    checkSource(join(directory, "made/file"), "FileOrCreate");
  } finally {
    process.umask(before);
  }
  const mode = (name: string) => statSync(join(directory, name)).mode & 0o777;
  expect([mode("made"), mode("made/deep"), mode("made/file")]).toEqual([0o750, 0o750, 0o640]);
  writeFileSync(join(directory, "made/file"), "kept");
  checkSource(join(directory, "made/file"), "FileOrCreate");
  expect(readFileSync(join(directory, "made/file"), "utf8")).toBe("kept");
  expect(() => checkSource(join(directory, "made/none/file"), "FileOrCreate")).toThrow("made/none is not there");
  expect(() => checkSource(join(directory, "made/file"), "DirectoryOrCreate")).toThrow("is not a directory");
  symlinkSync(join(directory, "none"), join(directory, "made/dangling"));
  for (const type of ["DirectoryOrCreate", "FileOrCreate"] as const)
    expect(() => checkSource(join(directory, "made/dangling"), type)).toThrow("is a symbolic link");
  expect(existsSync(join(directory, "none"))).toBe(false);
});

/** openInRoot, run with openat2(2) and without it: the answers are the same. */
import * as host from "../../../src/runtime/host/index.ts";
import { equal, type Test, throws } from "./harness.ts";

const { O } = host;
const top = `/tmp/runt-host-inroot-${host.getpid()}`;
const root = `${top}/root`;

/** outside is what no path of the root may lead to. */
function inRoot(test: (fd: number) => void): () => void {
  return () => {
    for (const path of [top, root, `${root}/etc`, `${root}/etc/deep`]) host.mkdir(path, 0o755);
    host.writeFile(`${top}/outside`, "outside", O.WRONLY | O.CREAT, 0o600);
    host.writeFile(`${root}/etc/name`, "inside", O.WRONLY | O.CREAT, 0o600);
    const links = {
      absolute: "/etc/name",
      climbing: "../../../../etc/name",
      "etc/deep/up": "../name",
      escape: "../outside",
      loop: "loop",
      directory: "etc",
      magic: `/proc/self/fd/0`,
    };
    for (const [name, text] of Object.entries(links)) host.symlink(text, `${root}/${name}`);
    const fd = host.open(root, O.PATH | O.DIRECTORY);
    try {
      test(fd);
    } finally {
      host.close(fd);
      for (const name of Object.keys(links)) host.unlink(`${root}/${name}`);
      for (const path of [`${root}/etc/name`, `${top}/outside`]) host.unlink(path);
      for (const path of [`${root}/etc/deep`, `${root}/etc`, root, top]) host.rmdir(path);
    }
  };
}

function contentOf(root: number, path: string): string {
  const fd = host.openInRoot(root, path, O.RDONLY);
  try {
    return host.readFd(fd);
  } finally {
    host.close(fd);
  }
}

export const inrootTests: readonly Test[] = [
  [
    "openInRoot: links and .. stay below the root",
    inRoot((fd) => {
      for (const path of ["/etc/name", "etc/name", "/absolute", "/climbing", "/etc/deep/up", "/directory/name", "/../../etc/deep/../name"])
        equal(contentOf(fd, path), "inside", path);
      for (const path of ["/escape", "/../outside", "/etc/../../outside", "/magic", "/nowhere", "/etc/nowhere/x"])
        throws("ENOENT", () => contentOf(fd, path));
      throws("ELOOP", () => contentOf(fd, "/loop"));
      throws("ENOTDIR", () => contentOf(fd, "/etc/name/x"));
    }),
  ],
  [
    "openInRoot: flags of the last component",
    inRoot((fd) => {
      const link = host.openInRoot(fd, "/absolute", O.PATH | O.NOFOLLOW);
      equal(host.fstat(link).mode & host.S.IFMT, host.S.IFLNK);
      host.close(link);
      throws("ELOOP", () => host.openInRoot(fd, "/absolute", O.RDONLY | O.NOFOLLOW));
      throws("ENOTDIR", () => host.openInRoot(fd, "/etc/name", O.PATH | O.DIRECTORY));
      const directory = host.openInRoot(fd, "/directory", O.RDONLY | O.DIRECTORY);
      equal(host.readdir(`/proc/self/fd/${directory}`).sort(), ["deep", "name"]);
      host.close(directory);
      const itself = host.openInRoot(fd, "/", O.PATH);
      equal(host.fstat(itself).ino, host.fstat(fd).ino);
      host.close(itself);
    }),
  ],
];

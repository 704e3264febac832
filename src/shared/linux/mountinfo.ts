/** The mounts of a mount namespace, as proc_pid_mountinfo(5) lists them: ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE OPTIONS */
export interface MountLine {
  /** That descriptors of what is in it have, too (mnt_id of proc_pid_fdinfo(5)). */
  readonly id: string;
  readonly parent: string;
  /** MAJOR:MINOR of its file system. */
  readonly device: string;
  /** Which directory or file of its file system it shows. */
  readonly root: string;
  /** Where it is mounted, without links. */
  readonly point: string;
  /** Of the mount itself: "ro", "nosuid", "relatime". */
  readonly options: readonly string[];
  readonly type: string;
  readonly source: string;
  /** Of the whole file system. */
  readonly ofFilesystem: readonly string[];
}

/** In the kernel's order: of two at one place the later one is seen. A line that is not whole is none of the kernel's, and is left out. */
export function parseMountinfo(text: string): MountLine[] {
  return text.split("\n").flatMap(parseMountLine);
}

/** One line of it, for who looks for one mount among hundreds. */
export function parseMountLine(line: string): readonly MountLine[] {
  const behind = line.indexOf(" - ");
  if (behind < 0) return [];
  const [id, parent, device, root, point, options] = line.slice(0, behind).split(" ", 6);
  const [type, source, ofFilesystem = ""] = line.slice(behind + 3).split(" ");
  if (id === undefined || parent === undefined || device === undefined || root === undefined || point === undefined) return [];
  if (options === undefined || type === undefined || source === undefined) return [];
  return [
    {
      ...{ id, parent, device, type, source: decodeMountPath(source) },
      ...{ root: decodeMountPath(root), point: decodeMountPath(point) },
      ...{ options: options.split(","), ofFilesystem: ofFilesystem.split(",") },
    },
  ];
}

/** The kernel writes space, tab, newline and backslash as three octal digits. */
export function decodeMountPath(path: string): string {
  if (!path.includes("\\")) return path;
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

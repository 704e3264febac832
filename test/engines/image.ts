/** Image archives (the `docker save` form, which both `ctr image import` and `podman load` read), made without any network. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface ImageDefinition {
  /** With registry and tag: "localhost/NAME:TAG". */
  readonly reference: string;
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly user?: string;
  readonly env?: readonly string[];
  /** Fill the directory of one more layer. */
  readonly layer?: (directory: string) => void;
}

/** One archive with all images upon one base layer. Returns its path. */
export function makeArchive(directory: string, rootfs: string, images: readonly ImageDefinition[]): string {
  const work = mkdtempSync(join(directory, "archive-"));
  const base = addLayer(work, rootfs);
  const manifest = images.map((image) => {
    const layers = [base, ...(image.layer ? [fillLayer(work, image.layer)] : [])];
    const config = JSON.stringify({
      architecture: process.arch === "arm64" ? "arm64" : "amd64",
      os: "linux",
      created: "2020-01-01T00:00:00Z",
      config: {
        Env: image.env ?? ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
        Cmd: image.command,
        ...(image.cwd === undefined ? {} : { WorkingDir: image.cwd }),
        ...(image.user === undefined ? {} : { User: image.user }),
      },
      rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => `sha256:${digest}`) },
      history: layers.map(() => ({ created: "2020-01-01T00:00:00Z" })),
    });
    const name = `${sha256(config)}.json`;
    writeFileSync(join(work, name), config);
    return { Config: name, RepoTags: [image.reference], Layers: layers.map(({ file }) => file) };
  });
  writeFileSync(join(work, "manifest.json"), JSON.stringify(manifest));
  const archive = `${work}.tar`;
  execFileSync("tar", ["-C", work, "-cf", archive, "."]);
  rmSync(work, { recursive: true });
  return archive;
}

interface Layer {
  readonly digest: string;
  readonly file: string;
}

function fillLayer(work: string, fill: (directory: string) => void): Layer {
  const content = mkdtempSync(join(work, "content-"));
  try {
    fill(content);
    return addLayer(work, content);
  } finally {
    rmSync(content, { recursive: true, force: true });
  }
}

function addLayer(work: string, content: string): Layer {
  const temporary = join(work, "layer.tar");
  execFileSync("tar", ["-C", content, "--numeric-owner", "--owner=0", "--group=0", "--mtime=@0", "--sort=name", "-cf", temporary, "."]);
  const digest = sha256(readFileSync(temporary));
  mkdirSync(join(work, digest), { recursive: true });
  cpSync(temporary, join(work, digest, "layer.tar"));
  rmSync(temporary);
  return { digest, file: `${digest}/layer.tar` };
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

import type { Context } from "../context.ts";
import { group } from "../group.ts";

const NO_VERSIONS = ["", "1.2", "v1.2.0", "1.0.0.0", "01.0.0", "1.0.0-01", "1.0.0+", "invalid"];

/** With suffixes that mean nothing for what is accepted. */
const VERSIONS = ["1.0.0-rc.5", "1.0.2-dev", "1.0.0+build.5", "1.0.2-a-b.0.x+001"];

const KNOWN = ["1.0.0", "1.0.1", "1.0.2", "1.1.0", "1.2.0", "1.2.1", "1.3.0"];

const accepted = (c: Context, ociVersion: string) =>
  c.create((config) => {
    config.ociVersion = ociVersion;
  });

const refused = (c: Context, ociVersion: string) =>
  c.refused((config) => {
    config.ociVersion = ociVersion;
  }, "/ociVersion");

export const version = group("VER", "ociVersion", ({ must, may }) => {
  must(1, "a configuration without ociVersion is refused", async (c) => {
    await c.refused((config) => Reflect.deleteProperty(config, "ociVersion"), "/ociVersion");
  });
  must(2, "ociVersion is a semantic version, pre-release and build suffixes included", async (c) => {
    for (const text of NO_VERSIONS) await refused(c, text);
    for (const text of VERSIONS) await accepted(c, text);
  });
  must(3, "every version 1.x up to the newest known one works", async (c) => {
    for (const text of KNOWN) await accepted(c, text);
  });
  may(
    4,
    "a newer 1.x works with a warning, another major version does not",
    async (c) => {
      for (const text of ["0.9.0", "2.0.0", "10.0.0"]) await refused(c, text);
      for (const text of ["1.4.0", "1.99.0"]) {
        const change = (config: { ociVersion: string }) => {
          config.ociVersion = text;
        };
        await c.warned(change, new RegExp(text));
      }
    },
    { note: "a newer 1.x is accepted, with a warning" },
  );
  must(5, "the oldest and the newest version in features work", async (c) => {
    const { status, stdout } = await c.call(["features"]);
    if (status !== 0) c.skip("this runtime has no features verb");
    const { ociVersionMin, ociVersionMax } = JSON.parse(stdout);
    for (const text of [ociVersionMin, ociVersionMax]) await accepted(c, text);
  });
});

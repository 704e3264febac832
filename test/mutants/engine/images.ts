/** Mutants of images. */
import type { Mutant } from "./mutant.ts";

const IMAGES = "src/engine/images";
const REGISTRIES = "test/engine/registries.test.ts";

export const IMAGE_MUTANTS: readonly Mutant[] = [
  {
    id: "E37",
    fault: "prefer-cached asks the source each time",
    file: `${IMAGES}/policy.ts`,
    from: 'case "prefer-cached":\n      return { asksSource: !isCached,',
    to: 'case "prefer-cached":\n      return { asksSource: true,',
    test: `${IMAGES}/policy.test.ts`,
  },
  {
    id: "E38",
    fault: "what was there before is used without a word",
    file: `${IMAGES}/images.ts`,
    from: 'pinOf(cached!, "usingCachedDigest", (error as Error).message)',
    to: 'pinOf(cached!, "cache")',
    test: REGISTRIES,
  },
  {
    id: "E39",
    fault: "as many pulls at once as there are",
    file: `${IMAGES}/images.ts`,
    from: "new Slots(options.pullsAtOnce ?? PULLS_AT_ONCE)",
    to: "new Slots(1000)",
    test: REGISTRIES,
  },
  {
    id: "E40",
    fault: "a pull that nobody wants goes on",
    file: "src/engine/run/pulling.ts",
    from: 'controller.abort(new ImageError("cancelled", "nobody wants it any more"));',
    to: "void controller;",
    test: REGISTRIES,
  },
  {
    id: "E41",
    fault: "what a registry shows of credentials is told",
    file: `${IMAGES}/credentials.ts`,
    from: "throw new ImageError(error.code, redact(error.message, secrets));",
    to: "throw error;",
    test: REGISTRIES,
  },
  {
    id: "E42",
    fault: "what a program prints is taken although it has failed",
    file: "src/engine/secrets/read.ts",
    from: "if (why === undefined && code === 0) return resolve(bytes);",
    to: "if (why === undefined) return resolve(bytes);",
    test: REGISTRIES,
  },
  {
    id: "E43",
    fault: "a pull may take as long as it likes",
    file: `${IMAGES}/within.ts`,
    from: "    ms,\n  );",
    to: "    ms * 1000,\n  );",
    test: REGISTRIES,
  },
  {
    id: "E44",
    fault: "an image waits for what its container waits for",
    file: "src/engine/model/dispatch.ts",
    from: 'target === "PULLED" && host.options.pullUpfront',
    to: 'target === "CREATED" && host.options.pullUpfront && false',
    test: REGISTRIES,
  },
  {
    id: "E45",
    fault: "a container that is started again is of what the tag is by then",
    file: "src/engine/run/pulling.ts",
    from: "...(before === undefined ? {} : { pin: before satisfies Pin }),",
    to: "",
    test: REGISTRIES,
  },
  {
    id: "E46",
    fault: "images of containers go, too",
    file: `${IMAGES}/collect.ts`,
    from: "!isUsed.has(manifest) && ",
    to: "",
    test: "test/engine/image-care.test.ts",
  },
  {
    id: "E46b",
    fault: "parts without a name stay",
    file: `${IMAGES}/collect.ts`,
    from: "    rmSync(join(blobs, name), { recursive: true });\n",
    to: "",
    test: "test/engine/image-care.test.ts",
  },
];

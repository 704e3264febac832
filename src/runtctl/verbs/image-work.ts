/** Images of the store that users look at, name, and give to others: the words of docker. */
import { failureIn } from "../../client/protocol/index.ts";
import type { ImageDetail } from "../../engine/index.ts";
import { FRAME, FrameReader } from "../../shared/frames/index.ts";
import { askFirst, ClientError, objectIn, refusal } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import { printable } from "../output/style.ts";
import { absolutePath, exists, newFile, type Output, print, printError, stdout } from "../platform/index.ts";
import { resultOf } from "../pulling.ts";
import type { Session } from "../session.ts";
import { verb } from "../verb.ts";

interface Named {
  readonly reference: string;
  readonly digest: string;
}

const IMAGE = "image of the store: a reference, or a name as for `run`";

export const inspect = verb({
  name: "inspect",
  summary: "print the configuration and the layers of an image, as JSON",
  description: ["The configuration is that of the image: environment, entrypoint, user, labels and more. `describe` shows a task."],
  examples: [["inspect alpine", "print what the image of docker.io says"]],
  define: (command) => command.argument("<image>", IMAGE),
  async run({ client }, [image = ""]) {
    try {
      const found = await client.call<ImageDetail>("GET", `/v1/images/inspect?reference=${encodeURIComponent(image)}`);
      print(JSON.stringify(found, null, 2));
      return EXIT.done;
    } catch (error) {
      // docker inspect also shows containers.
      if (!(error instanceof ClientError) || error.code !== "no-image") throw error;
      throw new ClientError(error.code, error.message, { body: error.body, hint: `For a task: runtctl describe ${image}` });
    }
  },
});

export const tag = verb({
  name: "tag",
  summary: "give an image of the store a further name",
  description: ["The name is one of a registry. `push` sends the image there. A task that names it asks the registry by its pull policy."],
  examples: [["tag oci:/srv/web:v1 registry.example:5000/shop/web:v1", "name an image of a directory for a registry"]],
  define: (command) => command.argument("<image>", IMAGE).argument("<name>", "HOST/NAME[:tag]"),
  async run({ client }, [image, name]) {
    const { reference } = await client.call<Named>("POST", "/v1/images/tag", { reference: image, name });
    print(printable(reference));
    return EXIT.done;
  },
});

export const push = verb<{ readonly credentials?: string }>({
  name: "push",
  summary: "send an image of the store to a registry",
  description: ["push prints the digest that the image has in the registry. ^C ends it."],
  examples: [
    ["push registry.example:5000/shop/web:v1", "send an image to the registry that its name has"],
    ["push oci:/srv/web:v1 registry.example:5000/shop/web:v1", "send an image under another name"],
  ],
  define: (command) =>
    command
      .argument("<image>", IMAGE)
      .argument("[name]", "HOST/NAME[:tag]; default: the name of the image")
      .option("--credentials <name>", "name of the daemon's credentials for the registry"),
  async run({ sockets }, [reference, to], { credentials }) {
    const pushed = await resultOf<Named>(
      sockets,
      { path: "/v1/images/push", body: { reference, to, credentials }, result: "pushed" },
      () => {},
    );
    printError(`${printable(pushed.reference)} is in the registry`);
    print(pushed.digest);
    return EXIT.done;
  },
});

export const load = verb<{ readonly input: string }>({
  name: "load",
  summary: "take the images of an archive of docker save into the store",
  examples: [["load -i images.tar", "take all images of the archive under their names"]],
  define: (command) => command.requiredOption("-i, --input <file>", "archive, which the daemon reads"),
  async run({ sockets }, _, { input }) {
    const body = { file: absolutePath(input) };
    await resultOf(sockets, { path: "/v1/images/load", body, result: "done" }, (event, value) => {
      if (event === "loaded") print(printable((value as Named).reference));
    });
    return EXIT.done;
  },
});

export const save = verb<{ readonly output?: string }>({
  name: "save",
  summary: "write an image of the store to an archive, as docker save does",
  description: [
    "Without -o, save writes to the standard output, which must not be a terminal. Docker, podman and `load` read the archive.",
  ],
  examples: [["save -o web.tar registry.example:5000/shop/web:v1", "write an archive"]],
  define: (command) => command.argument("<image>", IMAGE).option("-o, --output <file>", "file to write, which must not exist"),
  run: (session, [image = ""], { output }) => saveTo(session, image, output),
});

/** Returns the exit status. @throws UsageError, ClientError, and errors of the file */
async function saveTo({ sockets }: Session, image: string, output: string | undefined): Promise<number> {
  if (output === undefined && stdout.isTTY) throw new UsageError("an archive is not for a terminal: name a file with -o");
  if (output !== undefined && exists(output)) throw new UsageError(`${output} exists already`);
  const path = `/v1/images/save?reference=${encodeURIComponent(image)}`;
  const answered = await askFirst(sockets, { method: "GET", path, isStream: true });
  if (answered.status !== 200) throw refusal(await objectIn(answered));
  let target: Pick<Output, "send"> | undefined = output === undefined ? stdout : undefined;
  const reader = new FrameReader();
  for await (const chunk of answered.body) {
    for (const { kind, payload } of reader.push(chunk)) {
      if (kind === FRAME.stdout) {
        // An image that cannot be saved leaves no file.
        target ??= newFile(output!);
        await target.send(payload);
      }
      if (kind === FRAME.failed) throw incomplete(failureIn(payload), target && output);
      if (kind === FRAME.end) return EXIT.done;
    }
  }
  throw incomplete(new ClientError("stream-broken", "the daemon has ended before the archive was complete"), target && output);
}

function incomplete({ code, message }: ClientError, output: string | undefined): ClientError {
  return new ClientError(code, message, output === undefined ? {} : { hint: `${output} is no complete archive.` });
}

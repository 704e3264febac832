import { Argument, type Command } from "commander";
import { modelOf } from "../completion/model.ts";
import { completionScript, SHELLS, type Shell } from "../completion/scripts.ts";
import { EXIT } from "../errors.ts";
import { stdout } from "../platform/index.ts";
import { verb } from "../verb.ts";

let definition: Command | undefined;

export const completion = verb({
  name: "completion",
  summary: "print the completion script of a shell",
  description: ["make install and the Debian package install it."],
  examples: [["completion bash", 'in ~/.bashrc: eval "$(runtctl completion bash)"']],
  define(command) {
    definition = command;
    command.addArgument(new Argument("<shell>", "bash, zsh or fish").choices(SHELLS));
  },
  async run(_, [shell]) {
    stdout.write(completionScript(shell as Shell, modelOf(definition!.parent!)));
    return EXIT.done;
  },
});

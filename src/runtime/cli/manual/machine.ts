/** Manual of the verb for virtual machines. */
import type { VerbManual } from "./definition.ts";

export const MACHINE_MANUAL = {
  machine: {
    description: [
      "Looks into the virtual machines in which containers run with --isolation vm. An action for one machine takes the id of any container in it.",
      "list shows the machines of the state directory that run, each by the container that has booted it. The columns are its state, its processes on the " +
        "host, CPUs, MiB of memory, release of the guest's kernel, seconds since the boot, and containers. Nothing of this comes from the guest.",
      "console prints the end of what the guest's kernel has printed on its console: at most 65,536 characters, in which everything but printable ASCII " +
        "and newlines is escaped. With --follow it goes on until the machine ends. Nothing can be written to the console. A machine that is created but not " +
        "started shows its console after the start.",
      "metrics prints what the kernel of a guest counts, in the text format of Prometheus; without an id, of all machines. The guest only sends numbers " +
        "(at most 16 KiB, within 5 seconds); names and labels are the host's. runt_machine_guest_up is 0 if the guest has not answered.",
      "exec-shell runs a shell in the guest, beside its containers: with all capabilities, the processes of the guest, and the network of the machine. The " +
        "guest has no shell of its own, so it gets a program of the host, which it can only read. Words behind the id are words for the shell; words that " +
        "begin with a dash stand behind --.",
      "report prints what the kernel counts where runt runs, as JSON; the host asks a guest for it.",
    ],
    examples: [
      "runt machine list",
      "runt machine console --follow web",
      "runt machine metrics web",
      "runt machine exec-shell web",
      "# one command, without a terminal",
      "runt machine exec-shell web -- -c 'ps; dmesg | tail'",
    ],
    exitStatus: [
      ["status of the shell", "exec-shell; 128 + the signal when one killed it"],
      ["255", "exec-shell could not start the shell"],
    ],
    seeAlso: ["list", "ps", "exec", "check"],
  },
} as const satisfies Readonly<Record<string, VerbManual>>;

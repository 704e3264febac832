/** The help of `runtd`, of which the manual page is made, too. A terminal of 80 columns shows it without broken lines. */
export const USAGE = `Usage: runtd [options]
       runtd --once -f FILE [-g GROUP] [options]
       runtd --check-config [--config FILE] [options]
       runtd migrate --to VERSION [--state-dir DIR] [--config FILE]

  --once -f FILE
        run the tasks of a file (- is the standard input) until they end,
        without sockets. runtd ends with the exit status of the essential
        container. -g names the group of the tasks. Without --state-dir, the
        state is in a temporary directory
  --config FILE
        configuration file; default /etc/runt/runtd.json, if it exists. Each
        option below that is a setting has a field in it, and the option takes
        precedence. --once reads a file only with this option
  --check-config
        check the configuration file and the options, print what is wrong with
        line and column, and end
  --config-schema
        print the JSON Schema of the configuration file
  --state-dir DIR
        directory of the store, the containers and the logs; default
        /var/lib/runtd
  --run-dir DIR
        directory of admin.sock and read.sock; default /run/runtd
  --cgroup-parent PATH
        cgroup of all tasks; default /runtd
  --cgroup-manager WHO
        program that makes the cgroups of new tasks. cgroupfs (default): runtd
        itself. systemd: each task is a slice with the task's limits, and its
        containers are scopes in the slice; cgroup v2 only
  --no-task-limits
        make no cgroups for new tasks, and refuse a task with limits
  --runtime FILE
        the program runt; default: runt of the package, else RUNT_BINARY, else
        runt in PATH
  --runtime-class NAME=FILE
        another program runt, for tasks with this \`runtime\` and pods with this
        \`runtimeClassName\`. A program whose name ends with runt-vm makes virtual
        machines. May be repeated with another name
  --user-ids FIRST:COUNT
        ids of this host for tasks with \`privateUsers\` and pods with \`hostUsers:
        false\`; each gets 65536; default 1879048192:268435456
  --launch-timeout DURATION
        maximum time to create a container and run its hooks; default 2m
  --cpus N, --memory SIZE
        maximum that all tasks together may ask for; default: capacity of the
        host
  --queue ORDER
        order of tasks that wait for capacity. fifo (default); backfill: up to
        16 small tasks may start before a large one within 60 s
  --too-large WHAT
        for a task that needs more than the host has: wait (default), or refuse
  --orphans WHAT
        for running containers that are not in the store, for example after you
        restored a backup of it: show (default), list them in runtctl get as
        ORPHAN; adopt, take over their tasks; stop, stop them and remove their
        whole tasks
  --moved
        give this once after you have moved or copied the state directory. If
        the original still exists, the copy gets a new identity, and its tasks
        are stopped, because the running containers belong to the original
  --port-taken WHAT
        for a task that needs a host port which another task has: wait
        (default), or refuse
  --cdi-path DIRS
        directories of CDI specifications, separated by colons; a later one
        takes precedence; default /etc/cdi:/var/run/cdi
  --cni-path DIRS
        directories of CNI plugins, separated by colons; default
        /opt/cni/bin:/usr/lib/cni:/usr/libexec/cni
  --resolver PATH
        the program aardvark-dns, the DNS server for the names in the networks
        of tasks; default /usr/lib/podman/aardvark-dns, else
        /usr/libexec/podman/aardvark-dns
  --packet-filter WHICH
        program that writes the rules of the host for networks of tasks: nft,
        iptables, or auto (default), which is nft, and iptables on a host where
        nft does not work. Rules of the other program are taken over, also while
        tasks run
  --network-timeout DURATION
        maximum time of one call of a network plugin; default 30s
  --network-check DURATION
        interval between two checks of the tasks' networks; default 1m
  --volume-check DURATION
        interval between two measurements of scratch volumes with a size;
        default 10s
  --journal-socket PATH
        stream socket of systemd's journal, for logs with the driver journald;
        default /run/systemd/journal/stdout
  --interlink
        accept pods of a cluster through interLink's plug-in API, on
        interlink.sock in the directory of the sockets
  --interlink-host-path DIR
        such pods may mount host directories below DIR; may be repeated;
        default: none
  --interlink-network WHAT
        bridge (default): such pods get a bridge network of the host; none:
        loopback only
  --interlink-listen ADDRESS:PORT
        listen here instead of on the socket. --interlink-token FILE has the
        token that requests must carry. --interlink-host NAME is another host
        name that requests may use; may be repeated
  --watch DIR
        apply the files in this directory and below it, and again when they
        change; remove the tasks of files that are gone. May be repeated
  --watch-every DURATION
        interval between two looks at watched directories; default 2s
  --to VERSION
        for migrate: convert the store to the schema of another version of
        runtd, older or newer. The daemon must not run. migrate keeps the
        previous store in a file, and prints its name
  --pull-policy POLICY
        for containers without a pull policy: default, always, once,
        prefer-cached or never
  --pull-timeout DURATION
        maximum time to pull an image; default 10m
  --build-timeout DURATION
        maximum time to build an image; default 1h
  --pulls-at-once N
        maximum number of pulls at the same time; default 3
  --pull-upfront
        pull all images of a task as soon as it is admitted, before its
        containers wait for anything
  --credentials NAME=file:FILE, --credentials NAME=exec:PROGRAM
        registry credentials: a file as in containers-auth.json(5), or a program
        that prints one. A container names them as pullCredentials; the name
        default is for all others. May be repeated with another name
  --image-max-size SIZE, --image-max-files N
        maximum size and number of files of an unpacked image; default 32Gi and
        1000000
  --image-roots WHAT
        root file systems of images: overlay, or copy; default: overlay if the
        state directory supports it
  --image-gc-every DURATION
        interval between two removals of unused images; default 30m. 0s: never;
        --pull-policy prefer-cached also means never
  --image-gc-age DURATION, --image-gc-count N
        remove images that were not used for this long, at most N at once;
        default 24h and 5
  --image-gc-full PERCENT
        if this much of the file system of the images is in use, remove images
        of any age; default 90
  --image-gc-keep REFERENCE
        never remove this image; may be repeated
  --help
        print this text
`;

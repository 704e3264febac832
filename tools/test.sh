#!/bin/sh
# Run test lanes one after the other; every lane adds its counts to build/test-counts.txt. Fails if one fails. `-j N` before them: N at a time, each taken
# when one has ended, in the order in which they are named; then every line says of which lane it is.
# Lanes: lint, lint-quick, unit, native, native-host, e2e, library, engine, clients, differential, findings, conformance, security, faults, walk, guard, readme, hosts.
# LANE@shared runs a vitest lane in a mount namespace whose mounts are shared, as systemd leaves them on most hosts; LANE@private in one whose
# mounts are private. Mounts go neither in nor out. With -v2 behind it the namespace has cgroup v2 on /sys/fs/cgroup, and nothing else; where the
# host's controllers are those of v1, it has none, and tests of limits are skipped. With /cgroups or /mounts behind it the lane takes only the files with
# that subject (vitest.config.ts), because the others say nothing new in a second place, and of the ways through the helper those that `make check` takes.
set -u
cd "$(dirname "$0")/.."
# Tests make files that containers of other users read.
umask 022
failures=build/test/failures.txt
# Lanes run in processes of their own: it is there once one has failed.
failed=build/test/failed
rm -f build/test-counts.txt $failures $failed
mkdir -p build/test

# make leaves ignored signals and open descriptors to its children. The containers under test must not inherit them.
plain=build/test/plain
[ -x $plain ] || plain=

# $0: shared or private, with -v2 or without; "$@": a command.
own_namespace='mount --make-r"${0%-v2}" / || exit
if [ "$0" != "${0%-v2}" ] && [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
    umount --recursive /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup || exit
fi
exec "$@"'

vitest() { # project [shared|private][-v2] [cgroups|mounts]
    report=build/test/$1${2:+-$2}.json
    # Some unit tests are a project of their own (vitest.config.ts).
    case $1 in unit) projects='unit*' ;; *) projects=$1 ;; esac
    # Of unit tests only those that import something that has changed since this commit (tools/check.sh).
    since=
    if [ "$1" = unit ]; then since=${RUNT_TEST_SINCE:-}; fi
    rm -f "$report"
    # shellcheck disable=SC2086
    RUNT_TEST_SUBJECT=${3:-} RUNT_TEST_VARIANTS=${RUNT_TEST_VARIANTS:-${3:+quick}} ${2:+unshare --mount --propagation private sh -c "$own_namespace" "$2"} \
        $plain node_modules/.bin/vitest run --project "$projects" ${SHARD:+--shard="$SHARD"} ${since:+--changed "$since"} --passWithNoTests --reporter=default --reporter=json --outputFile.json="$report" || : > $failed
    if [ -e "$report" ]; then
        # shellcheck disable=SC2046
        tools/count.sh "$1" $(node tools/test-report.mjs "$1${2:+@$2}" "$report" $failures)
    else
        echo "failed: $1${2:+@$2}: no report" >> $failures
        tools/count.sh "$1" 0 1 0
    fi
}

conformance() {
    report=build/test/conformance.json
    rm -f "$report"
    $plain node_modules/.bin/tsx test/conformance/main.ts --json "$report" || : > $failed
    if [ -e "$report" ]; then
        # shellcheck disable=SC2046
        tools/count.sh conformance $(node -e '
            const counts = { passed: 0, failed: 0, skipped: 0, untested: 0 };
            for (const [id, { result, detail }] of Object.entries(JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).runt)) {
                counts[result]++;
                if (result === "failed") require("fs").appendFileSync(process.argv[2], `failed: conformance: ${id}: ${detail.replace(/\s*\n\s*/g, " | ").slice(0, 2000)}\n`);
            }
            console.log(counts.passed, counts.failed, counts.skipped + counts.untested);
        ' "$report" $failures)
    else
        echo "failed: conformance: no report" >> $failures
        tools/count.sh conformance 0 1 0
    fi
}

lane() {
    printf '\n== %s\n' "$1"
    case $1 in
    lint-quick) tools/lint.sh quick || { : > $failed; echo "failed: lint-quick" >> $failures; } ;;
    lint) tools/lint.sh || { : > $failed; echo "failed: lint" >> $failures; } ;;
    native-host) $plain test/native/host/run.sh || { : > $failed; echo "failed: native-host: test/native/host/run.sh" >> $failures; } ;;
    conformance) conformance ;;
    *@*/*) place=${1#*@} && vitest "${1%@*}" "${place%/*}" "${place#*/}" ;;
    *@*) vitest "${1%@*}" "${1#*@}" ;;
    *) vitest "$1" ;;
    esac
}

# A lane beside others: each of its lines is printed when it comes, with its name before it, and its end with the time that it took, on the clock and of the
# processors. By way of a file: what a lane has left running may hold a pipe open for ever.
named_lane() {
    begun=$(date +%s)
    log=build/test/lane-$(printf %s "$1" | tr / -).log
    : > "$log"
    { lane "$1"; times > "$log.times"; } >> "$log" 2>&1 &
    tail --pid=$! --lines=+1 --follow "$log" | sed -u "s|^|$1 \| |"
    # The second line is that of the children: minutes and seconds, of the user and of the system.
    used=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }' "$log.times")
    printf '%s | == %s has ended after %s s, with %s s of processor time\n' "$1" "$1" $(($(date +%s) - begun)) "$used"
}

# The lanes that nobody else has taken.
take() {
    number=0
    for lane; do
        number=$((number + 1))
        if mkdir "$taken/$number" 2>/dev/null; then named_lane "$lane"; fi
    done
}

if [ "$1" = -j ]; then
    count=$2
    shift 2
    taken=$(mktemp -d build/test/taken.XXXXXX)
    beside=
    while [ "$count" -gt 0 ]; do
        take "$@" &
        beside="$beside $!"
        count=$((count - 1))
    done
    for process in $beside; do wait "$process" || : > $failed; done
    rm -r "$taken"
else
    # A lane that runs alone keeps its terminal.
    for lane; do lane "$lane"; done
fi

# The failures are repeated at the end, where they are seen.
if [ -s $failures ]; then printf '\n'; cat $failures; fi
awk '{ p += $2; f += $3; s += $4 } END { printf "\n%d passed, %d failed%s\n", p, f, s ? ", " s " skipped" : ""; exit f > 0 }' \
    build/test-counts.txt || : > $failed
[ ! -e $failed ]

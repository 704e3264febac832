#!/bin/sh
# In the guest: run the lanes of $PAYLOAD/lanes-NAME (lines NAME<tab>SECONDS<tab>COMMAND) one after the other. Each has $RESULTS/NAME.json for its report,
# $RESULTS/NAME.log for its output and $RESULTS/NAME.rc for its status. One that is silent for SECONDS is ended. What is there goes out after
# every lane: a later one may hang.
cd "$PAYLOAD/repository" || exit 1
export PATH="$PAYLOAD/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
tab=$(printf '\t')
mode=$(sed 's/.*runt.mode=\([a-z0-9]*\).*/\1/' /proc/cmdline)
lanes=$(sed 's/.*runt.lanes=\([a-z0-9-]*\).*/\1/' /proc/cmdline)
echo "Linux $(uname -r), $(crun --version | head -n 1)" >"$RESULTS/machine"
# Not /tmp: before Linux 6.3 the ids of a tmpfs cannot be mapped.
export GUEST_MODE=$mode RUNT_TEST_SLOW=8 NO_COLOR=1 TMPDIR=/var/tmp

# What a lane was waiting for when its time was over.
diagnose() {
    ps -eo pid,ppid,stat,wchan:24,etimes,cgroup:60,args --forest
    systemctl list-jobs --no-pager
    journalctl -b --no-pager -n 40 2>/dev/null
    dmesg | tail -n 20
}

run() { # name seconds command
    name=$1 seconds=$2 command=$3 log=$RESULTS/$1.log
    : >"$log"
    echo "guest: lane $name begins at $(cut -d' ' -f1 /proc/uptime) s"
    REPORT=$RESULTS/$name.json setsid build/test/plain sh -c "$command" >"$log" 2>&1 </dev/null &
    lane=$!
    # Counted, not read from a clock: a lane may set that.
    (silent=0 size=
        while [ $silent -lt "$seconds" ]; do
            sleep 5
            silent=$((silent + 5)) before=$size size=$(stat -c %s "$log")
            [ "$size" = "$before" ] || silent=0
        done
        diagnose >"$RESULTS/$name.hang" 2>&1
        echo "guest: lane $name has said nothing for $seconds s"
        cat "$RESULTS/$name.hang"
        kill -KILL "-$lane") &
    watch=$!
    wait $lane
    status=$?
    kill $watch 2>/dev/null
    wait $watch 2>/dev/null
    echo $status >"$RESULTS/$name.rc"
    [ $status = 0 ] || tail -n 60 "$log"
    echo "guest: lane $name ended with $status at $(cut -d' ' -f1 /proc/uptime) s"
    tar -C "$RESULTS" -cf "$RESULTS_DISK" .
    sync
}

while IFS=$tab read -r name seconds command <&3; do
    run "$name" "$seconds" "$command"
done 3<"$PAYLOAD/lanes-$lanes"

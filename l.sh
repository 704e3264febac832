for i in $(seq 60); do /work/main/bin/runt --root /run/tt/t run --bundle /tmp/t/b x$i </dev/null >/dev/null; sleep 0.02; done

for i in $(seq 150); do /tmp/t/runtI --root /run/tt/t run --bundle /tmp/t/b x$i </dev/null >/dev/null; sleep 0.02; done

#!/bin/sh
# Wait until the process named in a pid file has ended and been reaped.
while kill -0 "$(cat "$1")" 2>/dev/null; do sleep 0.005; done

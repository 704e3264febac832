#!/bin/sh
# The client as a program: the engine and the host module of bin/runt with the test's own entry. Needs what `make bin/runt` leaves in build/.
set -eu
cd "$(dirname "$0")/../../.."
out=build/test/dbus
CC=${CC:-musl-gcc}
mkdir -p "$out"
node_modules/.bin/tsx tools/bundle.ts --debug --entry test/native/dbus/client.ts --output "$out"
$CC -c "$out/gen/embed.S" -o "$out/embed.o"
$CC -static -no-pie -Wl,-T,native-bindings/program/image.ld -o "$out/client" build/program/*.o build/host/*.o build/twins/*.o build/shared/*.o "$out/embed.o" build/quickjs/lib/libquickjs.a build/libseccomp/lib/libseccomp.a -lm

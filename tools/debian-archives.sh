#!/bin/sh
# Print the archives of Debian that this machine's apt knows, one address a line, what looks like the main archive first.
apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | sort -u |
    awk '/\/debian\/?$/ { print 0, $0; next } /security|backports/ { next } { print 1, $0 }' | sort -n | cut -d' ' -f2

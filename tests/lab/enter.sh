#!/bin/sh
# SPDX-License-Identifier: MIT
# Becomes a process of a lab host: enter.sh HOST [SOURCE=TARGET ...] -- COMMAND...
# Started in the host's network namespace and in a mount and a UTS namespace of its own. The bind mounts give
# the process the paths that a user's machine has (/opt/kafka, /var/log/...), so that its log shows those.
set -e
hostname "$1"
shift
while [ "$1" != -- ]; do
    mount --rbind "${1%%=*}" "${1#*=}"
    shift
done
shift
cd /
exec "$@"

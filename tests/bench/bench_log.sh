#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Reading of logs, against the tools that search them.

set -u
. tests/bench/ratio.sh

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Exits with 0 if this machine has the address. keepalived runs it every second. Argument: the address.
[ -n "$(ip -o address show to "$1")" ]

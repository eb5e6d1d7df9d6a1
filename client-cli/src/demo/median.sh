#!/bin/sh
# Prints the median of the whole numbers that are given as arguments.
[ "$#" -gt 0 ] || { echo "usage: median.sh NUMBER..." >&2; exit 64; }
middle=$(( ($# + 1) / 2 ))
printf '%s\n' "$@" | sort | sed -n "${middle}p"

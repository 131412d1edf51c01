#!/bin/bash
# opensm.sh DIRECTORY ENGINE: one pass of the real OpenSM over the simulated fabric DIRECTORY/net.
# Leaves opensm-lfts.dump (every switch's forwarding table) and osm.log in DIRECTORY. The roots for
# updn and ftree-roots are read from DIRECTORY/roots.
set -eu
cd "$1"
PATH=$PATH:/usr/sbin
# Sockets are abstract and named, so runs side by side do not meet.
export IBSIM_SOCKNAME=fabricast$$ OSM_TMP_DIR=$PWD OSM_CACHE_DIR=$PWD
ibsim -s -n -N 16384 -S 2048 -P 200000 -L 49151 net >ibsim.log 2>&1 &
simulator=$!
trap 'kill $simulator; wait $simulator || true' EXIT
for _ in $(seq 600); do
  grep -q 'simulator ready' ibsim.log && break
  sleep 0.05
done
engine=(-R "${2%-roots}")
[ "$2" = updn ] || [ "$2" = ftree-roots ] && engine+=(-a roots)
# 0x43: errors, information and the dumps of routing.
ibsim-run timeout 300 opensm -o -e -f osm.log "${engine[@]}" --dump_files_dir . -D 0x43 >osm.out 2>&1

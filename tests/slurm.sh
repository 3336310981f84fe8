#!/bin/sh
# SPDX-License-Identifier: MIT
# The array of Slurm jobs of docs/performance.md, run for real: sh tests/slurm.sh PROGRAM
#
# A controller and one node run on this machine, with files and ports of their own. The array has
# fewer points than on the page. One task is put back in the queue while it writes, another one's
# program is killed, and the array is submitted again as a user would. The parts, joined, must be
# the whole output. It is left out where Slurm or munge is not installed (slurmctld, slurmd,
# slurm-client and munge of Debian).
set -eu
program=$(realpath "$1")
page=$(realpath "$(dirname "$0")/../docs/performance.md")
PATH=$PATH:/usr/sbin:/sbin
for name in munged slurmctld slurmd sbatch scontrol squeue; do
    command -v $name > /dev/null || {
        echo "skipped: no $name"
        exit 0
    }
done
[ "$(id -u)" -eq 0 ] || {
    echo "skipped: slurmd needs root"
    exit 0
}

scratch=$(mktemp -d)
daemons=
finish() {
    for pid in $daemons; do
        kill "$pid" 2> /dev/null || :
    done
    wait
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "FAIL $*"
    tail -n 20 "$scratch"/*.log
    exit 1
}

# until_true SECONDS WHAT COMMAND...: waits for a command to end well.
until_true() {
    left=$(($1 * 20))
    what=$2
    shift 2
    until "$@" > "$scratch/said" 2>&1; do
        left=$((left - 1))
        [ $left -gt 0 ] || fail "waited in vain: $what: $(cat "$scratch/said")"
        sleep 0.05
    done
}

# --- a cluster of one node ------------------------------------------------------------------------

chmod 755 "$scratch"
mkdir -m 700 "$scratch/munge" "$scratch/state" "$scratch/spool"
dd if=/dev/urandom of="$scratch/munge/key" bs=128 count=1 2> /dev/null
chmod 400 "$scratch/munge/key"
munged --foreground --force --key-file="$scratch/munge/key" --socket="$scratch/socket" \
    --pid-file="$scratch/munge/pid" --seed-file="$scratch/munge/seed" \
    --log-file="$scratch/munged.log" --num-threads=2 > "$scratch/munge.log" 2>&1 &
daemons=$!
node=$(hostname -s)
port=$((20000 + $$ % 20000))
cat > "$scratch/slurm.conf" << END
ClusterName=roofline
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$scratch/socket,cred_expire=5
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=1,sched_min_interval=0
ReturnToService=2
KillWait=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$scratch/slurm.conf"
until_true 20 'munged' test -S "$scratch/socket"
slurmctld -D > "$scratch/slurmctld.log" 2>&1 &
daemons="$daemons $!"
slurmd -D -N "$node" > "$scratch/slurmd.log" 2>&1 &
daemons="$daemons $!"
until_true 60 'a node that is idle' sh -c "sinfo -h -o %T | grep -q '^idle'"

# --- the array ------------------------------------------------------------------------------------

mkdir "$scratch/work" "$scratch/bin"
ln -s "$program" "$scratch/bin/roofline"
PATH=$scratch/bin:$PATH
export PATH
cd "$scratch/work"
grid='-m 1:2500 -n 1:2500 -k 4096 -f csv --columns m,n,time_us'
awk '/^#!\/bin\/sh$/ { on = 1 } /^```$/ { if (on) exit } on' "$page" > page.sh
sed -e 's/-m 1:1M -n 1:1M -k 4096 -f csv/'"$grid"'/' -e 's/1-1000/1-6/' -e 's/=4 /=1 /' \
    -e 's/--threads 4/--threads 1/' -e 's|/1000|/6|' page.sh > array.sh
[ "$(grep -c -e '1:2500' -e 'array=1-6' -e '/6"' array.sh)" -eq 3 ] || fail "another script: $(cat array.sh)"
roofline sweep gemm -m 1:2500 -n 1:2500 -k 4096 -f csv --columns m,n,time_us -o whole.csv

job=$(sbatch --parsable array.sh)
until_true 60 'the first task writes' test -s part.0001.part
scontrol requeue "${job}_1" || fail 'requeue'
echo "requeued: task 1, with $(wc -l < part.0001.part) lines written"

# kill_other: kills the program of another task that writes, of this cluster alone.
kill_other() {
    for pid in $(pgrep -x roofline); do
        [ "$(readlink "/proc/$pid/cwd")" = "$scratch/work" ] || continue
        part=$(tr '\0' '\n' < "/proc/$pid/cmdline" | grep '^part[.]')
        if [ "$part" != part.0001 ] && [ -s "$part.part" ] && kill -KILL "$pid"; then
            echo "killed: the program that wrote $part"
            return 0
        fi
    done 2> /dev/null
    return 1
}
until_true 60 'another task writes' kill_other
cat "$scratch/said"
until_true 300 'the end of the array' sh -c "! squeue -h -j $job | grep -q ."
ls part.????.part || fail 'the killed task left no part'
again=$(sbatch --parsable array.sh)
until_true 300 'the end of the array' sh -c "! squeue -h -j $again | grep -q ."
[ "$(ls part.????)" = "$(printf 'part.%04d\n' 1 2 3 4 5 6)" ] || fail "the parts are $(ls)"
cat part.???? | cmp - whole.csv || fail 'the joined parts are not the whole'
echo "joined: $(wc -l < whole.csv) lines of 6 tasks, the same bytes"

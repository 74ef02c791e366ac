#!/bin/bash
# with_slurm.sh COMMAND...: on h1 of over_hosts.sh, runs the command beside a Slurm of all hosts (HOSTS), each a node of four processors. Exit code 77
# where Slurm is not installed (Debian: slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge).
set -u
skip() { echo "skipped: $1"; exit 77; }
PATH=$PATH:/usr/sbin
for tool in slurmctld slurmd sbatch srun munged; do command -v $tool >/dev/null || skip "no command \`$tool\`"; done
folder=$(mktemp -d /tmp/tessera-slurm-XXXXXX)
chmod 755 "$folder"
pids=()
clean() {
  scancel --user root 2>/dev/null
  kill "${pids[@]}" 2>/dev/null
  wait "${pids[@]}" 2>/dev/null
  [ -n "${KEEP_SLURM:-}" ] || rm -rf "$folder"
}
trap clean EXIT
trap 'exit 130' INT TERM HUP
say() { echo "$*"; tail -n 20 "$folder"/*.log; }

head -c 128 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
export SLURM_CONF=$folder/slurm.conf
cat >"$SLURM_CONF" <<Y
ClusterName=tessera
SlurmctldHost=h1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
KillWait=5
SlurmdParameters=config_overrides
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmdSpoolDir=$folder/%n
TmpFS=$folder/%n/tmp
StateSaveLocation=$folder/state
SwitchType=switch/none
NodeName=h[1-${HOSTS##*h}] CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
Y
mkdir "$folder/state"
munged -F --force --key-file="$folder/munge.key" --socket="$folder/munge" --pid-file="$folder/munge.pid" --seed-file="$folder/munge.seed" \
  --log-file="$folder/munge.log" 2>"$folder/munged.log" &
pids+=($!)
for _ in {1..100}; do [ -S "$folder/munge" ] && break; sleep 0.1; done
[ -S "$folder/munge" ] || { say "munged does not start"; exit 1; }
slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.log" 2>&1 &
pids+=($!)
for host in ${HOSTS//,/ }; do
  mkdir -p "$folder/$host/tmp"
  "$OVER_HOSTS/agent" "$host" "export SLURM_CONF=$SLURM_CONF; exec slurmd -D -N $host" >"$folder/$host.log" 2>&1 &
  pids+=($!)
done
count=$(echo "${HOSTS//,/ }" | wc -w)
for _ in {1..300}; do
  [ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" = "$count" ] && break
  sleep 0.2
done
[ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" = "$count" ] || { say "Slurm has not come up"; sinfo -N; exit 1; }
# The job's hosts are Slurm's, and mpirun starts its daemons with srun.
unset OMPI_MCA_plm_rsh_agent OMPI_MCA_orte_default_hostfile
"$@"

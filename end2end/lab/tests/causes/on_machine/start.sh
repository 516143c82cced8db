# Starts a program in the background and waits until a command succeeds: start.sh NAME "CHECK" PROGRAM [ARGUMENT...]
name=$1 check=$2
shift 2
mkdir -p /run/causes
setsid nohup "$@" > "/run/causes/$name.log" 2>&1 < /dev/null &
echo $! > "/run/causes/$name.pid"
for _ in $(seq 600); do
  if sh -c "$check" > /dev/null 2>&1; then exit 0; fi
  if [ ! -d "/proc/$(cat "/run/causes/$name.pid")" ]; then break; fi
  sleep 0.1
done
echo "$name doesn't answer:" >&2
tail -n 5 "/run/causes/$name.log" >&2
exit 1

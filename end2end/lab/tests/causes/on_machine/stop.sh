# Ends programs that start.sh has started, and waits for their ends.
for name in "$@"; do
  pid=$(cat "/run/causes/$name.pid")
  kill "$pid" 2>/dev/null
  for _ in $(seq 300); do
    [ -d "/proc/$pid" ] || continue 2
    sleep 0.1
  done
  kill -9 "$pid"
  while [ -d "/proc/$pid" ]; do sleep 0.1; done
done

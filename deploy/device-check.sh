#!/usr/bin/env bash
# What a machine with an NVIDIA GPU makes of Alveare: peaks, training, agreement with the CPU, evaluations a second by
# batch, and whole runs with actors. About eight minutes; prints a table a stage, keeps the logs.
#
#   cargo xtask build            # on that machine, so that the programs are linked to libtorch with CUDA
#   deploy/device-check.sh
#   DRY=1 deploy/device-check.sh # the same stages on a CPU with a small network: tries this script, not a GPU
#
# Variables:
#   BIN      folder of learner, actor and evaluator                    target/release
#   LIB      folder of another libtorch (torch 2.11, CUDA 13)          the one that the programs were built with
#   OUT      where the logs go                                         device-check
#   GAMES    human games of Hive, a GameString a line                  those of the tests
#   DEVICE   what is checked                                           cuda:0, with DRY=1 cpu
#   THREADS  search threads of the actor                               all cores but two
#   SECS     seconds of each whole run                                 30, with DRY=1 15
#   LIMIT    seconds after which no further run is started             480
#
# Exit code: 0 if every check passed, 1 if one failed, 64 if a program is missing.
set -u
ROOT=$(cd "$(dirname "$0")/.." && pwd)
BIN=${BIN:-$ROOT/target/release}; OUT=${OUT:-$ROOT/device-check}; DRY=${DRY:-0}; LIMIT=${LIMIT:-480}
GAMES=${GAMES:-$ROOT/samples/tests/human_games/games.uhp}
for program in learner actor evaluator; do
  [ -x "$BIN/$program" ] || { echo "device-check: $BIN/$program is not there: cargo xtask build, or set BIN" >&2; exit 64; }
done
[ -f "$GAMES" ] || { echo "device-check: there is no $GAMES: set GAMES" >&2; exit 64; }
W=$(mktemp -d); L=$OUT; mkdir -p "$L"; T0=$(date +%s); FAILED=0; PIDS=()
finish() { for pid in "${PIDS[@]:-}"; do [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; done; rm -rf "$W"; }
trap finish EXIT
if [ "$DRY" = 1 ]; then
  DEVICE=${DEVICE:-cpu}; THREADS=${THREADS:-1}; SECS=${SECS:-15}; BATCHES=16,64; BENCH_SECONDS=0.2
  SMALL=(--set network.blocks=1 --set network.filters=16 --set training.batch_size=64 --set pretrain.batch_size=64)
else
  DEVICE=${DEVICE:-cuda:0}; SECS=${SECS:-30}; BATCHES=64,128,256,512,1024,2048; BENCH_SECONDS=2; SMALL=()
  THREADS=${THREADS:-$(($(nproc) > 3 ? $(nproc) - 2 : 1))}
fi
[ -z "${LIB:-}" ] || export LD_LIBRARY_PATH="$LIB:${LD_LIBRARY_PATH:-}"

say() { printf '\n[%3ds] %s\n' $(($(date +%s) - T0)) "$*"; }
check() { if [ "$1" = 0 ]; then echo "PASS $2"; else echo "FAIL $2"; FAILED=$((FAILED + 1)); fi; }
left() { echo $((LIMIT - ($(date +%s) - T0))); }
# Fields of the JSON log lines with a message: jl FILE MESSAGE FIELD...
jl() { python3 - "$@" <<'PY'
import json,sys
f,msg,*keys=sys.argv[1:]
for line in open(f,errors="replace"):
    try: d=json.loads(line)
    except ValueError: continue
    if d.get("message")==msg: print(*[f"{k}={d.get(k)}" for k in keys if k in d])
PY
}

say "1 machine"; uname -r; nproc
[ "$DRY" = 1 ] || nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,power.draw --format=csv,noheader
"$BIN/learner" --version; check $? "the learner starts"
# The GPU that the preset asks for, or one line that says why it cannot be had.
"$BIN/learner" bench --preset hive-4090 --device "$DEVICE" --batches 1 --seconds 0 --no-training "${SMALL[@]}" \
  > "$L/device.txt" 2>&1; check $? "$DEVICE answers: $(head -1 "$L/device.txt")"

say "2 peaks, and what fused calls would give (needs PyTorch, not the programs)"
if [ "$DRY" = 1 ] || ! python3 -c 'import torch' 2>/dev/null; then echo "SKIPPED: no GPU, or no PyTorch"
else TRIAL_SECONDS=100 timeout 130 python3 -u "$ROOT/deploy/gpu_trial.py" 2>&1 | tee "$L/gpu_trial.txt"; fi

say "3 evaluations and training steps a second, by batch and precision"
bench() { # name preset settings...
  local name=$1 preset=$2; shift 2
  echo "-- $name"
  timeout 100 "$BIN/learner" bench --preset "$preset" --device "$DEVICE" --batches "$BATCHES" --seconds $BENCH_SECONDS \
    "${SMALL[@]}" "$@" 2> "$L/bench-$name.err" | tee "$L/bench-$name.txt"
  grep -q "evaluations/s" "$L/bench-$name.txt"; check $? "bench $name"
}
bench frame hive-4090 --set network.trunk=frame
bench cells hive-4090
bench original hive-original --no-training

say "4 training on $DEVICE; it makes a network whose residual branches are not zero"
# (a random network's last batch norms are 0: it would hide errors of the trunk)
head -n 600 "$GAMES" > "$W/some.uhp"; head -n 40 "$GAMES" > "$W/few.uhp"
EPOCHS=$(($(wc -l < "$W/some.uhp") < 100 ? 8 : 1))
train() { # name precision trunk
  timeout 75 "$BIN/learner" pretrain --preset hive-4090 --games "$W/some.uhp" --epochs $EPOCHS --checkpoint-dir "$W/$1" \
    --log-format json --set pretrain.device="$DEVICE" --set pretrain.precision="$2" --set network.trunk="$3" \
    --set pretrain.batch_threads=2 --set pretrain.learning_rate=0.05 --set pretrain.learning_rate_schedule=cosine \
    --set pretrain.value_loss_weight=0.3 "${SMALL[@]}" > "$L/pretrain-$1.log" 2>&1
  check $? "training $1 ($2, $3)"
  jl "$L/pretrain-$1.log" "epoch done" samples_per_second policy_loss held_out_policy_loss top1 value_error | tail -1 | sed "s/^/   $1: /"
}
train frame-bf16 bfloat16 frame
train frame-f32 float32 frame
train cells-bf16 bfloat16 cells

say "5 the same network answers the same on the CPU and on $DEVICE"
for n in frame-bf16 cells-bf16; do
  net="$W/$n/pretrained.safetensors"; [ -f "$net" ] || { check 1 "network of $n"; continue; }
  timeout 60 "$BIN/learner" evaluate --network "$net" --games "$W/few.uhp" --device cpu --json > "$W/cpu.json" 2> "$L/cpu-$n.err"
  timeout 60 "$BIN/learner" evaluate --network "$net" --games "$W/few.uhp" --device "$DEVICE" --json > "$W/gpu.json" 2> "$L/gpu-$n.err"
  python3 - "$W/cpu.json" "$W/gpu.json" <<'PY'
import json,sys
a,b=(json.load(open(p)) for p in sys.argv[1:])
bad=[k for k,t in (("policy_loss",5e-3),("value_error",5e-3),("top1",5e-3),("sign_share",5e-3)) if not abs(a[k]-b[k])<=t]
for k in ("positions","policy_loss","value_error","top1","sign_share"): print(f"   {k}: cpu {a[k]:.5f} device {b[k]:.5f}")
sys.exit(bool(bad))
PY
  check $? "answers agree: $n"
done

say "6 whole runs with an actor of $THREADS thread(s): evaluations/s, the device's busy share and fill"
run() { # name seconds games-per-thread settings...
  local name=$1 secs=$2 games=$3; shift 3
  [ "$(left)" -gt $((secs + 15)) ] || { echo "SKIPPED $name: no time left"; return; }
  local log="$L/run-$name.log" url lp ap ep sp=0
  "$BIN/learner" --preset hive-4090 --run-dir "$W/run-$name" --listen 127.0.0.1:0 --log-format json \
    --set inference.device="$DEVICE" --set training.device="$DEVICE" "${SMALL[@]}" "$@" > "$log" 2>&1 & lp=$!
  for _ in $(seq 100); do url=$(jl "$log" listening address | sed 's/^address=//'); [ -n "$url" ] && break; sleep 0.2; done
  [ -n "$url" ] || { check 1 "run $name: the learner does not listen: $(tail -1 "$log")"; kill -9 $lp 2>/dev/null; return; }
  "$BIN/actor" --learner "http://$url" --threads "$THREADS" --games-per-thread "$games" > "$L/actor-$name.log" 2>&1 & ap=$!
  "$BIN/evaluator" --learner "http://$url" --threads 1 > "$L/evaluator-$name.log" 2>&1 & ep=$!
  [ "$DRY" = 1 ] || { nvidia-smi --query-gpu=utilization.gpu,power.draw,clocks.sm,memory.used --format=csv,noheader,nounits -l 1 \
    > "$L/smi-$name" 2>/dev/null & sp=$!; }
  PIDS=($lp $ap $ep); sleep "$secs"
  local cpu; cpu=$(ps -L -p $lp -o pcpu=,comm= | sort -rn | head -4 | tr '\n' ';')
  kill -INT $ap $ep $lp 2>/dev/null; [ $sp = 0 ] || kill $sp 2>/dev/null
  for p in $ap $ep $lp; do for _ in $(seq 20); do kill -0 "$p" 2>/dev/null || break; sleep 0.5; done; kill -9 "$p" 2>/dev/null; done
  PIDS=()
  echo "-- $name: threads of the learner by CPU: $cpu"
  jl "$log" progress phase evaluations_per_second batch_fill device_busy device_fill positions done total | tail -4
  jl "$log" loss training_step steps_per_second policy_loss | tail -2
  [ -f "$L/smi-$name" ] && awk -F, -v n="$name" 'NR>8{u+=$1;p+=$2;c+=$3;if($4>m)m=$4;k++}END{if(k)printf "   %s: GPU busy %.0f %%, %.0f W, %.0f MHz, %.0f MiB at most\n",n,u/k,p/k,c/k,m}' "$L/smi-$name"
  echo "   warnings and errors: $(grep -E -c '"level":"(ERROR|WARN)"' "$log")"
  jl "$log" progress evaluations_per_second | grep -q . ; check $? "run $name answers"
}
run frame "$SECS" 64 --set network.trunk=frame
run cells "$SECS" 256 --set server.batches_in_flight_max=128
# A whole iteration in miniature: what self-play keeps while the trainer shares the device, and how long a gate lasts.
run iteration $((SECS * 2)) 16 --set self_play.games_per_iteration=16 --set self_play.search.full_search_share=1 \
  --set self_play.simulation_count_first=16 --set game.ply_limit=40 --set replay.position_count_min=256 \
  --set training.uses_per_position=0 --set training.steps_per_iteration=60 --set gate.game_count=8 --set gate.search.simulation_count=32
run small-cells "$SECS" 256 --set network.blocks=6 --set network.filters=64 --set server.batches_in_flight_max=128

say "done: $FAILED failed; logs in $L"; exit $((FAILED > 0))

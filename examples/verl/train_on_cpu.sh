#!/usr/bin/env bash
# verl's own trainer on an export of a pool, on CPU cores. Usage: train_on_cpu.sh EXPORT MODEL [verl's own arguments]
#   EXPORT  a folder that `envolve export verl` wrote;  MODEL  a Hugging Face folder of a small model
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

EXPORT=$(realpath "$1") MODEL=$(realpath "$2")
shift 2
export EXPORT MODEL
# verl on a machine without an accelerator: see verl_on_cpu.py
export VERL_PLATFORM=cpu VERL_USE_EXTERNAL_MODULES=verl_on_cpu PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}"
# trainer and sampler take turns on the same cores, and vLLM's engine runs its model itself
export VLLM_ENABLE_V1_MULTIPROCESSING=0
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-$(nproc)}" OMP_WAIT_POLICY=PASSIVE VLLM_CPU_OMP_THREADS_BIND=nobind
export TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 RAY_USAGE_STATS_ENABLED=0

exec "${PYTHON:-python}" -m verl.trainer.main_ppo --config-dir "$here" --config-name cpu "$@"

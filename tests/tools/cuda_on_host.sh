#!/bin/sh
# cuda_on_host.sh DIFFERENTIAL_TEST DRIVER NVRTC
# Random programs on the backend cuda without a GPU: passes and routines are kernels that the fake
# driver runs on the host (tests/unit/fake_cuda.h). Results are interp's.
set -eu
export PERMC_CUDA_DRIVER="$2" PERMC_NVRTC="$3" FAKE_NVRTC_HOST="$PERMC_TMP" PERMC_CACHE="$PERMC_TMP/cache"
"$1" --backends cuda --count 48 --seed 95007000 backend_cuda places_cuda

#!/usr/bin/env bash
# Cross-build the wheel for 64-bit ARM on x86, run it under qemu, and compare its map with that of this machine.
#
#     tools/aarch64.sh TOOLS DIST
#
# TOOLS has auditwheel and wheel. It needs Debian or Ubuntu with g++-aarch64-linux-gnu, qemu-user and mmdebstrap, Python
# 3.12 or later to build with, and dualpix in .venv to compare with. The ARM Python is Debian's, unpacked into a folder.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$(realpath "$1") dist=$2
work=$PWD/build/aarch64
root=$work/root
for program in aarch64-linux-gnu-g++ qemu-aarch64 mmdebstrap; do
  command -v "$program" > /dev/null ||
    { echo "error: $program is missing: apt-get install g++-aarch64-linux-gnu qemu-user mmdebstrap" >&2; exit 1; }
done
python=$("$tools/python" tools/wheels.py --find 3.12 3.13 3.14)

if [ ! -e "$root" ]; then
  mkdir -p "$work"
  rm -rf "$root.part"
  mmdebstrap --quiet --variant=extract --architectures=arm64 \
    --include=python3.13-minimal,libpython3.13-stdlib,libstdc++6 trixie "$root.part" http://deb.debian.org/debian
  [ -e "$root.part/lib" ] || ln -s usr/lib "$root.part/lib"  # nothing was configured, so this link is missing
  mv "$root.part" "$root"
fi

# The stable ABI has the same headers on both: 64 bits, little endian. So those of this machine's Python serve.
rm -rf "$work/wheel"
CXX=aarch64-linux-gnu-g++ "$python" -m pip wheel --quiet --no-deps -w "$work/wheel" . \
  -Ccmake.define.CMAKE_SYSTEM_NAME=Linux -Ccmake.define.CMAKE_SYSTEM_PROCESSOR=aarch64 -Cbuild-dir="$work/build"
"$tools/python" -m wheel tags --platform-tag linux_aarch64 --remove "$work"/wheel/*.whl > /dev/null
PATH=$tools:$PATH "$tools/python" -m auditwheel repair -w "$work/wheel" "$work"/wheel/*-linux_aarch64.whl
wheel=$(ls "$work"/wheel/*-manylinux*.whl)

rm -rf "$work/site"
"$python" -m pip install --quiet --root-user-action ignore --target "$work/site" --only-binary :all: --python-version 3.13 \
  --implementation cp --abi cp313 --abi abi3 --abi none --platform manylinux_2_34_aarch64 \
  --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 "$wheel"
.venv/bin/python tools/same_map.py write "$work/pair.npz"
PYTHONPATH=$work/site qemu-aarch64 -L "$root" "$root/usr/bin/python3.13" tools/same_map.py compare "$work/pair.npz"
mkdir -p "$dist"
mv "$wheel" "$dist"
echo "built and run: $dist/${wheel##*/}"

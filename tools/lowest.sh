#!/usr/bin/env bash
# Try dualpix with the lowest version of every dependency that pyproject.toml allows and this Python can use.
#
#     tools/lowest.sh UV PYTHON
#
# Two environments: a plain installation, and one with all extras. An extra may ask for a newer numpy, so the lowest one
# is in the first only. dualpix itself is built with the lowest nanobind and scikit-build-core.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=$1 python=$2
work=build/lowest
rm -rf "$work"
mkdir -p "$work"

# requires = ["a>=1", "b>=2"]  ->  a==1, b==2, a line each
sed -n 's/^requires = \[\(.*\)\]/\1/p' pyproject.toml | tr -d '" ' | tr ',' '\n' | sed 's/>=/==/' > "$work/build.txt"
"$uv" build --quiet --python "$python" --wheel --build-constraints "$work/build.txt" --out-dir "$work" .

# Tests are skipped if a package cannot be imported, so that is tried first.
imports="skimage.data, rawpy, pi_heif, OpenEXR, av, starlette, uvicorn, python_multipart, distributed, fsspec, zarr, onnxruntime"

# name, extra, tests
try() {
  local name=$1 extra=$2
  shift 2
  "$uv" pip compile --quiet --python "$python" --resolution lowest-direct ${extra:+--extra "$extra"} \
    --no-annotate --no-header --output-file "$work/$name.txt" pyproject.toml > /dev/null
  "$uv" venv --quiet --python "$python" "$work/$name"
  "$uv" pip install --quiet --python "$work/$name" --requirements "$work/$name.txt" "pytest>=7.4" "hypothesis>=6.80"
  "$uv" pip install --quiet --python "$work/$name" --no-deps "$work"/*.whl
  [ -z "$extra" ] || "$work/$name/bin/python" -c "import $imports"
  "$work/$name/bin/dualpix" demo -o "$work/demo-$name" > "$work/demo-$name.txt"
  "$work/$name/bin/python" -m pytest -q -p no:cacheprovider "$@"
  echo "lowest versions, $name: works with $(grep -c == "$work/$name.txt") packages," \
    "$(grep -E '^(numpy|opencv-python-headless)==' "$work/$name.txt" | tr '\n' ' ')"
}

try plain "" tests/test_io_maps.py tests/test_io_images.py tests/test_match.py
try all test tests/test_io_maps.py tests/test_formats.py tests/test_raw.py tests/test_video.py tests/test_urls.py \
  tests/test_app_safety.py tests/test_networks.py

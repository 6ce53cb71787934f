#include "render/spots.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace dualpix {

namespace {

constexpr double kNothing = 1e-7;  // A smaller tap, relative to the mean weight of the spot, is left out.

// A square of differences around the origin, one column wider on the right.
struct Differences {
  explicit Differences(int reach) : reach(reach), width(2 * reach + 2), data((size_t)(2 * reach + 1) * width) {}
  double& at(int y, int x) { return data[(size_t)(y + reach) * width + x + reach]; }
  int reach, width;
  std::vector<double> data;

  // Adds a step of height `mass` at x. The pixels are bilinear hats, so their differences are quadratic splines.
  void add_step(int y, double x, double mass) {
    const int j = (int)std::floor(x);
    const double f = x - j, before = 0.5 * (1 - f) * (1 - f), after = 0.5 * f * f;
    at(y, j) += mass * before;
    at(y, j + 1) += mass * (1 - before - after);
    at(y, j + 2) += mass * after;
  }
};

// The opening, scaled to a blur of radius r and integrated against the bilinear hats of the pixels.
Differences scaled(const float* chords, int lines, float r, int reach) {
  Differences spot(reach);
  double mass = 0;
  for (int k = 0; k < lines; ++k) mass += std::max(chords[lines + k] - chords[k], 0.0f);
  for (int k = 0; k < lines; ++k) {
    const double left = chords[k], right = chords[lines + k];
    if (right <= left) continue;
    const double y = r * (2.0 * k + 1 - lines) / lines, share = 1 / (r * mass);
    const int row = (int)std::floor(y);
    for (int i = 0; i < 2; ++i) {
      const double weight = share * (i == 0 ? 1 - (y - row) : y - row);
      spot.add_step(row + i, r * left, weight);
      spot.add_step(row + i, r * right, -weight);
    }
  }
  return spot;
}

Spot make_spot(const Openings& openings, float extent, int place, int code, int stride) {
  Spot spot;
  if (code == 0) {
    spot.start = {0, 1};
    spot.taps = {{0, 1.0f}};
    return spot;
  }
  const int reach = spot_reach(extent, code);
  const float r = radius_of(code);
  Differences found = scaled(openings.chords + (size_t)place * 2 * openings.lines, openings.lines, r, reach);
  spot.summed = code > kDense;
  spot.top = -reach;
  spot.start = {0};
  for (int y = -reach; y <= reach; ++y) {
    double sum = 0;
    for (int x = -reach; x <= reach + 1; ++x) {
      sum += found.at(y, x);
      const double weight = spot.summed ? found.at(y, x) : sum;
      if (std::abs(weight) * r * r > kNothing) spot.taps.push_back({y * stride + x, (float)weight});
    }
    spot.start.push_back((int)spot.taps.size());
  }
  return spot;
}

}  // namespace

float extent_of(const Openings& openings) {
  float extent = 1;
  const size_t count = (size_t)openings.rows * openings.columns * 2 * openings.lines;
  for (size_t i = 0; i < count; ++i) extent = std::max(extent, std::abs(openings.chords[i]));
  return extent;
}

int spot_reach(float extent, int code) { return code == 0 ? 0 : (int)std::ceil(radius_of(code) * extent) + 1; }

Spots::Spots(const Openings& openings, int largest, int stride)
    : openings_(openings),
      extent_(extent_of(openings)),
      codes_(largest + 1),
      stride_(stride),
      spots_((size_t)openings.rows * openings.columns * codes_),
      made_(new std::once_flag[spots_.size()]) {}

void Spots::make(int number) {
  std::call_once(made_[number],
                 [&] { spots_[number] = make_spot(openings_, extent_, number / codes_, number % codes_, stride_); });
}

int Spots::number(int x, int y, int h, int w, int code) const {
  const int rows = openings_.rows, columns = openings_.columns;
  int row = (int)((int64_t)y * rows / h), column = (int)((int64_t)x * columns / w);
  if (code < 0) row = rows - 1 - row, column = columns - 1 - column;
  return (row * columns + column) * codes_ + std::abs(code);
}

}  // namespace dualpix

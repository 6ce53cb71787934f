#include "render/defocus.h"

#include <cmath>
#include <cstdlib>
#include <vector>

#include "common/parallel.h"

namespace dualpix {

namespace {

constexpr int kColumns = 64;  // columns that are scanned together, so that whole cache lines are used

// The feet of the depth edges along a line, as a scan from one end meets them.
class Feet {
 public:
  // Passes the pixel at `at`; `before` is the code of the pixel before it.
  void pass(int at, int before, int code) {
    if (code - before <= kEdge) return;
    const bool ramp = last_ == at - 1;
    last_ = at;
    if (ramp) return;
    while (!feet_.empty() && feet_.back().code >= before) feet_.pop_back();
    feet_.push_back({at - 1, before});
  }

  // The distance of the nearest foot behind a pixel, 0 if there is none within reach.
  int distance(int at, int code, const float* radius) const {
    for (size_t i = feet_.size(); i-- > 0;) {
      if (feet_[i].code >= code - kEdge) continue;
      const int distance = at - feet_[i].at;
      return (float)distance <= radius[std::abs(code)] + radius[std::abs(feet_[i].code)] + 1 ? distance : 0;
    }
    return 0;
  }

  void clear() {
    feet_.clear();
    last_ = -2;
  }

 private:
  struct Foot {
    int at, code;
  };
  std::vector<Foot> feet_;
  int last_ = -2;  // the last edge
};

void keep_nearest(int16_t& best, int distance, int direction) {
  if (distance > 0 && (best == 0 || distance < best / 4)) best = (int16_t)(4 * distance + direction);
}

void scan_row(const int16_t* codes, int16_t* behind, int w, const float* radius, Feet& feet) {
  for (int direction = 0; direction < 2; ++direction) {
    feet.clear();
    const int step = direction == 0 ? 1 : -1, first = direction == 0 ? 0 : w - 1;
    for (int i = 0; i < w; ++i) {
      const int x = first + step * i;
      if (i > 0) feet.pass(i, codes[x - step], codes[x]);
      keep_nearest(behind[x], feet.distance(i, codes[x], radius), direction);
    }
  }
}

void scan_columns(const int16_t* codes, int16_t* behind, int h, int w, int begin, int end, const float* radius,
                  std::vector<Feet>& feet) {
  for (int direction = 2; direction < 4; ++direction) {
    for (Feet& each : feet) each.clear();
    for (int i = 0; i < h; ++i) {
      const size_t row = (size_t)(direction == 2 ? i : h - 1 - i) * w;
      const size_t before = direction == 2 ? row - w : row + w;
      for (int x = begin; x < end; ++x) {
        if (i > 0) feet[x - begin].pass(i, codes[before + x], codes[row + x]);
        keep_nearest(behind[row + x], feet[x - begin].distance(i, codes[row + x], radius), direction);
      }
    }
  }
}

// Moves the sample from the foot to its mirror image, if that is in the picture and on the same surface.
void mirror_samples(const int16_t* codes, int16_t* behind, int h, int w, int begin, int end) {
  for (int y = 0; y < h; ++y)
    for (int x = begin; x < end; ++x) {
      int16_t& sample = behind[(size_t)y * w + x];
      if (sample == 0) continue;
      const int distance = sample / 4, direction = sample % 4;
      const int dx = distance * kAcross[direction], dy = distance * kDown[direction];
      const int mx = x + 2 * dx, my = y + 2 * dy;
      if (mx < 0 || mx >= w || my < 0 || my >= h) continue;
      const int foot = codes[(size_t)(y + dy) * w + x + dx], image = codes[(size_t)my * w + mx];
      if (std::abs(image - foot) <= kSlice) sample = (int16_t)(4 * 2 * distance + direction);
    }
}

}  // namespace

float radius_of(int code) { return kLinear * std::sinh((float)code / kCodes); }

void defocus_codes(const Defocus& defocus, int16_t* codes, int h, int w, int threads) {
  parallel_pixels((size_t)h * w, threads, [&](size_t begin, int n) {
    for (size_t i = begin; i < begin + n; ++i) {
      const float r = defocus.gain * (defocus.d[i] - defocus.focus), most = kMostRadius;
      codes[i] = (int16_t)std::lrint(kCodes * std::asinh(std::min(std::max(r, -most), most) / kLinear));
    }
  });
}

void find_background(const int16_t* codes, int16_t* behind, int h, int w, int threads) {
  float radius[kMostCode + 1];
  for (int code = 0; code <= kMostCode; ++code) radius[code] = radius_of(code);
  parallel_for(h, threads, [] { return Feet(); }, [&](int y, Feet& feet) {
    int16_t* row = behind + (size_t)y * w;
    std::fill(row, row + w, (int16_t)0);
    scan_row(codes + (size_t)y * w, row, w, radius, feet);
  });
  auto make = [] { return std::vector<Feet>(kColumns); };
  parallel_for((w + kColumns - 1) / kColumns, threads, make, [&](int block, std::vector<Feet>& feet) {
    const int begin = block * kColumns, end = std::min(begin + kColumns, w);
    scan_columns(codes, behind, h, w, begin, end, radius, feet);
    mirror_samples(codes, behind, h, w, begin, end);
  });
}

}  // namespace dualpix

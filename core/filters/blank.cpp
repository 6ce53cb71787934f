#include "filters/blank.h"

#include <algorithm>
#include <vector>

#include "common/stop.h"

namespace dualpix {

namespace {

constexpr int32_t kSeen = -1;  // blank, but in a part that is too small

struct Field {
  int h, w;
  int32_t* part;

  // Calls visit(pixel) for the neighbours of a pixel, the four beside it or all eight.
  template <class Visit>
  void around(int32_t pixel, bool eight, const Visit& visit) const {
    const int y = pixel / w, x = pixel % w;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        if ((!dy && !dx) || (!eight && dy && dx)) continue;
        if (y + dy >= 0 && y + dy < h && x + dx >= 0 && x + dx < w) visit(pixel + dy * w + dx);
      }
  }
};

// The pixels of the part that `first` belongs to, all of them marked with `number`.
void flood(const Field& field, const uint8_t* blank, int32_t first, int32_t number, std::vector<int32_t>& pixels) {
  pixels.assign(1, first);
  field.part[first] = number;
  for (size_t i = 0; i < pixels.size(); ++i)
    field.around(pixels[i], false, [&](int32_t next) {
      if (!blank[next] || field.part[next]) return;
      field.part[next] = number;
      pixels.push_back(next);
    });
}

}  // namespace

int blank_parts(const uint8_t* blank, const float* d, int h, int w, int least, int reach, int32_t* part, uint8_t* steps,
                float* beside) {
  const int32_t count = (int32_t)h * w;
  const Field field = {h, w, part};
  std::fill(part, part + count, 0);
  std::fill(steps, steps + count, (uint8_t)0);
  std::copy(d, d + count, beside);
  std::vector<int32_t> pixels, front;
  int parts = 0;
  for (int32_t first = 0; first < count; ++first) {
    if (!blank[first] || part[first]) continue;
    look_for_stop();
    flood(field, blank, first, parts + 1, pixels);
    if ((int)pixels.size() < least) {
      for (int32_t pixel : pixels) part[pixel] = kSeen;
      continue;
    }
    ++parts;
    front.insert(front.end(), pixels.begin(), pixels.end());
  }
  std::replace(part, part + count, kSeen, (int32_t)0);
  // `front` holds the pixels that were reached with as many steps.
  for (int step = 1; step <= reach; ++step) {
    look_for_stop();
    pixels.clear();
    for (int32_t from : front)
      field.around(from, true, [&](int32_t to) {
        if (part[to]) return;
        part[to] = part[from];
        steps[to] = (uint8_t)step;
        if (step > 1) beside[to] = beside[from];
        pixels.push_back(to);
      });
    front.swap(pixels);
  }
  return parts;
}

}  // namespace dualpix

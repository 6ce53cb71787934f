#include "filters/regions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/stop.h"
#include "filters/measured.h"

namespace dualpix {

namespace {

// Disjoint sets of pixels. The link of a root is minus the size of its set; the link of another pixel leads to its
// root.
class Sets {
 public:
  explicit Sets(size_t count) : link_(count, -1) {}

  int32_t root(int32_t i) {
    while (link_[i] >= 0) {
      if (link_[link_[i]] >= 0) link_[i] = link_[link_[i]];
      i = link_[i];
    }
    return i;
  }

  void join(int32_t a, int32_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (link_[a] > link_[b]) std::swap(a, b);
    link_[a] += link_[b];
    link_[b] = a;
  }

  int size(int32_t i) { return -link_[root(i)]; }

 private:
  std::vector<int32_t> link_;
};

// Calls body(q) for the up to eight neighbours q of pixel p.
template <class Body>
void for_neighbours(int32_t p, int h, int w, const Body& body) {
  const int x = p % w, y = p / w;
  for (int row = std::max(0, y - 1); row <= std::min(h - 1, y + 1); ++row)
    for (int column = std::max(0, x - 1); column <= std::min(w - 1, x + 1); ++column)
      if (row != y || column != x) body(row * w + column);
}

float median_of_neighbours(const float* map, int32_t p, int h, int w) {
  float values[8] = {};
  int count = 0;
  for_neighbours(p, h, w, [&](int32_t q) {
    if (is_data(map[q])) values[count++] = map[q];
  });
  float* middle = values + (count - 1) / 2;
  std::nth_element(values, middle, values + count);
  return *middle;
}

}  // namespace

void remove_speckles(float* map, int h, int w, int size, float step) {
  const int32_t count = h * w;
  Sets sets(count);
  // Comparisons with NaN are false, so NaN joins no set.
  for (int32_t p = 0; p < count; ++p) {
    if (p % w == 0) look_for_stop();
    if (p % w && std::fabs(map[p] - map[p - 1]) <= step) sets.join(p, p - 1);
    if (p >= w && std::fabs(map[p] - map[p - w]) <= step) sets.join(p, p - w);
  }
  for (int32_t p = 0; p < count; ++p)
    if (!is_data(map[p]) || sets.size(p) < size) map[p] = std::numeric_limits<float>::quiet_NaN();
}

void fill_holes(float* map, int h, int w) {
  const int32_t count = h * w;
  std::vector<char> queued(count);
  std::vector<int32_t> ring, next;
  std::vector<float> values;
  auto queue = [&](std::vector<int32_t>& to, int32_t p) {
    for_neighbours(p, h, w, [&](int32_t q) {
      if (is_data(map[q]) || queued[q]) return;
      queued[q] = 1;
      to.push_back(q);
    });
  };
  for (int32_t p = 0; p < count; ++p)
    if (is_data(map[p])) queue(ring, p);
  while (!ring.empty()) {
    look_for_stop();
    values.resize(ring.size());
    for (size_t i = 0; i < ring.size(); ++i) values[i] = median_of_neighbours(map, ring[i], h, w);
    for (size_t i = 0; i < ring.size(); ++i) map[ring[i]] = values[i];
    next.clear();
    for (int32_t p : ring) queue(next, p);
    ring.swap(next);
  }
}

}  // namespace dualpix

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

// A run is a part of a row whose neighbours all differ by at most `step`. Comparisons with NaN are false, so a NaN is a
// run of its own.
//
// Disjoint sets of runs. The link of a root is minus the number of pixels of its set; the link of another run leads to
// its root.
class Runs {
 public:
  int32_t count() const { return (int32_t)begin_.size(); }
  int32_t begin(int32_t i) const { return begin_[i]; }
  int32_t end(int32_t i) const { return end_[i]; }

  void add(int32_t begin, int32_t end) {
    begin_.push_back(begin);
    end_.push_back(end);
    link_.push_back(begin - end);
  }

  void join(int32_t a, int32_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (link_[a] > link_[b]) std::swap(a, b);
    link_[a] += link_[b];
    link_[b] = a;
  }

  int32_t size(int32_t i) { return -link_[root(i)]; }

 private:
  int32_t root(int32_t i) {
    while (link_[i] >= 0) {
      if (link_[link_[i]] >= 0) link_[i] = link_[link_[i]];
      i = link_[i];
    }
    return i;
  }

  std::vector<int32_t> begin_, end_, link_;
};

void add_runs(const float* map, int32_t row, int w, float step, Runs& runs) {
  int32_t begin = row;
  for (int32_t p = row + 1; p < row + w; ++p)
    if (!(std::fabs(map[p] - map[p - 1]) <= step)) {
      runs.add(begin, p);
      begin = p;
    }
  runs.add(begin, row + w);
}

// Joins the runs of a row, from `first` on, with those of the row above, from `above` on.
void join_rows(const float* map, int w, float step, int32_t above, int32_t first, Runs& runs) {
  int32_t a = above, b = first;
  while (a < first && b < runs.count()) {
    const int32_t end = std::min(runs.end(a) + w, runs.end(b));
    for (int32_t p = std::max(runs.begin(a) + w, runs.begin(b)); p < end; ++p)
      if (std::fabs(map[p] - map[p - w]) <= step) {
        runs.join(a, b);
        break;
      }
    if (runs.end(a) + w == end) ++a;
    if (runs.end(b) == end) ++b;
  }
}

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
  Runs runs;
  for (int32_t y = 0, above = 0; y < h; ++y) {
    look_for_stop();
    const int32_t first = runs.count();
    add_runs(map, y * w, w, step, runs);
    if (y > 0) join_rows(map, w, step, above, first, runs);
    above = first;
  }
  for (int32_t i = 0; i < runs.count(); ++i) {
    const bool small = runs.size(i) < size;
    for (int32_t p = runs.begin(i); p < runs.end(i); ++p)
      if (small || !is_data(map[p])) map[p] = std::numeric_limits<float>::quiet_NaN();
  }
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

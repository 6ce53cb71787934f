#include "filters/grid.h"

#include <algorithm>
#include <numeric>

#include "common/parallel.h"

namespace dualpix {

namespace {

// The code of a colour cell has three fields of ten bits. No value lies at the end of its field, so that the neighbours
// are at code +- unit.
constexpr uint32_t kUnit[3] = {1u << 20, 1u << 10, 1u};
constexpr float kFirst = 1, kLast = 1022, kOrigin[3] = {kFirst, 512, 512};

// The set of codes in one spatial cell: a hash table that is emptied after use.
class Codes {
 public:
  explicit Codes(size_t most) {
    size_t size = 16;
    while (size < 2 * most) size *= 2;
    table_.assign(size, kEmpty);
  }

  // The number of the code, in order of appearance.
  int32_t number(uint32_t code) {
    int32_t& entry = table_[slot(code)];
    if (entry == kEmpty) {
      entry = (int32_t)codes_.size();
      codes_.push_back(code);
    }
    return entry;
  }

  // Appends the codes to `sorted` in ascending order, writes their positions to rank[number], and empties the table.
  void flush(std::vector<uint32_t>& sorted, std::vector<int32_t>& rank) {
    order_.resize(codes_.size());
    rank.resize(codes_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](int32_t a, int32_t b) { return codes_[a] < codes_[b]; });
    for (int32_t number : order_) {
      rank[number] = (int32_t)sorted.size();
      sorted.push_back(codes_[number]);
    }
    // From the last to the first, so that no search ends at a slot that is already empty.
    for (; !codes_.empty(); codes_.pop_back()) table_[slot(codes_.back())] = kEmpty;
  }

 private:
  size_t slot(uint32_t code) const {
    const size_t mask = table_.size() - 1;
    size_t at = (code * 0x9E3779B1u >> 8) & mask;
    while (table_[at] != kEmpty && codes_[table_[at]] != code) at = (at + 1) & mask;
    return at;
  }

  static constexpr int32_t kEmpty = -1;
  std::vector<int32_t> table_, order_;
  std::vector<uint32_t> codes_;
};

int pieces(int length, int piece) { return (length + piece - 1) / piece; }

}  // namespace

Grid::Grid(const Measured& in, const CellSize& size, int threads)
    : guide_(in.guide),
      planes_(in.planes),
      h_(in.h),
      w_(in.w),
      xy_(size.xy),
      rows_(pieces(in.h, size.xy)),
      columns_(pieces(in.w, size.xy)),
      scale_{1 / size.luma, 1 / size.chroma, 1 / size.chroma},
      vertex_(in.size()),
      first_((size_t)rows_ * columns_ + 1) {
  find_vertices(threads);
  find_links(threads);
}

float Grid::colour(int k, size_t pixel) const {
  const float c = guide_[k * (size_t)h_ * w_ + pixel] * scale_[k] + kOrigin[k];
  return c > kFirst ? (c < kLast ? c : kLast) : kFirst;
}

uint32_t Grid::code(size_t pixel) const {
  uint32_t code = 0;
  for (int k = 0; k < planes_; ++k) code += kUnit[k] * (uint32_t)colour(k, pixel);
  return code;
}

void Grid::find_vertices(int threads) {
  std::vector<std::vector<uint32_t>> found(rows_);
  const size_t most = (size_t)std::min(xy_, h_) * std::min(xy_, w_);
  parallel_for(rows_, threads, [&] { return Codes(most); }, [&](int row, Codes& codes) {
    std::vector<int32_t> rank;
    const int bottom = std::min(h_, (row + 1) * xy_);
    for (int column = 0; column < columns_; ++column) {
      auto for_cell = [&](auto body) {
        for (int y = row * xy_; y < bottom; ++y)
          for (int x = column * xy_; x < std::min(w_, (column + 1) * xy_); ++x) body((size_t)y * w_ + x);
      };
      for_cell([&](size_t pixel) { vertex_[pixel] = codes.number(code(pixel)); });
      codes.flush(found[row], rank);
      for_cell([&](size_t pixel) { vertex_[pixel] = rank[vertex_[pixel]]; });
      first_[(size_t)row * columns_ + column + 1] = (int32_t)rank.size();
    }
  });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  codes_.resize(first_.back());
  parallel_for(rows_, threads, [] { return 0; }, [&](int row, int) {
    const int32_t first = first_[(size_t)row * columns_];
    std::copy(found[row].begin(), found[row].end(), codes_.begin() + first);
    for_pixels(row, [&](size_t pixel) { vertex_[pixel] += first; });
  });
}

void Grid::find_links(int threads) {
  Links none;
  none.fill((int32_t)codes_.size());
  links_.assign(codes_.size(), none);
  parallel_for(rows_, threads, [] { return 0; }, [&](int row, int) {
    for (int column = 0; column < columns_; ++column) {
      const size_t cell = (size_t)row * columns_ + column;
      for (int32_t v = first_[cell]; v < first_[cell + 1]; ++v) {
        for (int k = 0; k < planes_; ++k) link(v, k, find(row, column, codes_[v] + kUnit[k]));
        link(v, 3, find(row, column + 1, codes_[v]));
        link(v, 4, find(row + 1, column, codes_[v]));
      }
    }
  });
}

// The vertex with this code in a spatial cell, or vertices() if there is none.
int32_t Grid::find(int row, int column, uint32_t code) const {
  if (row == rows_ || column == columns_) return vertices();
  const size_t cell = (size_t)row * columns_ + column;
  const auto begin = codes_.begin() + first_[cell], end = codes_.begin() + first_[cell + 1];
  const auto at = std::lower_bound(begin, end, code);
  return at != end && *at == code ? (int32_t)(at - codes_.begin()) : vertices();
}

// Only the thread of v writes these entries.
void Grid::link(int32_t v, int k, int32_t next) {
  if (next == vertices()) return;
  links_[v][2 * k] = next;
  links_[next][2 * k + 1] = v;
}

}  // namespace dualpix

// Bilateral grid: the cells of position and colour that contain pixels of an image, and their neighbours.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "filters/measured.h"

namespace dualpix {

struct CellSize {
  float luma, chroma;  // in units of the guide
  int xy;              // px
};

// The occupied cells are the vertices. They are numbered by spatial cell, row by row, and within a cell by colour.
class Grid {
 public:
  static constexpr int kDimensions = 5;  // luma, two chromas, x, y
  using Links = std::array<int32_t, 2 * kDimensions>;

  Grid(const Measured& in, const CellSize& size, int threads);

  int vertices() const { return (int)links_.size(); }
  int rows() const { return rows_; }  // rows of spatial cells
  int dimensions() const { return 2 + planes_; }
  int32_t vertex(size_t pixel) const { return vertex_[pixel]; }

  // The neighbours of v: up along dimension k at [2 k], down at [2 k + 1]; vertices() where there is none.
  const Links& links(int32_t v) const { return links_[v]; }

  // The position of a pixel relative to the middle of its cell along dimension k, in cells: -1/2 to 1/2.
  float above(int k, size_t pixel) const {
    const float c = k == 3 ? (pixel % w_ + 0.5f) / xy_ : k == 4 ? (pixel / w_ + 0.5f) / xy_ : colour(k, pixel);
    return c - std::floor(c) - 0.5f;
  }

  // Calls body(pixel) for the pixels of a row of spatial cells. No two rows share a vertex.
  template <class Body>
  void for_pixels(int row, const Body& body) const {
    const size_t end = (size_t)w_ * std::min(h_, (row + 1) * xy_);
    for (size_t pixel = (size_t)w_ * row * xy_; pixel < end; ++pixel) body(pixel);
  }

 private:
  float colour(int k, size_t pixel) const;
  uint32_t code(size_t pixel) const;
  void find_vertices(int threads);
  void find_links(int threads);
  int32_t find(int row, int column, uint32_t code) const;
  void link(int32_t v, int k, int32_t next);

  const float* guide_;
  int planes_, h_, w_, xy_, rows_, columns_;
  float scale_[3];
  std::vector<int32_t> vertex_;  // of every pixel
  std::vector<Links> links_;     // of every vertex
  std::vector<uint32_t> codes_;  // of every vertex: its colour
  std::vector<int32_t> first_;   // first vertex of every spatial cell, then the number of vertices
};

}  // namespace dualpix

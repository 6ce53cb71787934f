#include "match/census_search.h"

#include <limits>
#include <memory>

#include "common/parallel.h"

namespace dualpix {

namespace {

constexpr int kRows = 64;                // of a band; half as many in small images
constexpr int kColumns = 7 * kShorts;    // of a tile
constexpr int kMostHalf = 2, kMostSide = 2 * kMostHalf + 1;
constexpr int kWide = 4 * kBytes;        // columns of a tile and of the windows around it, and more
constexpr int kBits = 24;                // of a census code
constexpr int kBeyond = kBits * kMostSide * kMostSide + 1;  // a cost higher than all others
static_assert(kColumns + 2 * kMostHalf <= kWide, "windows do not fit");
static_assert(kBits * kMostSide <= 127, "the sum of a row of a window, and its change, must fit into a byte");

// Disparities are searched in blocks of up to kMostAtOnce. A minimum in a block has a key, which sorts by cost and
// disparity: (cost << kShift) + number - 1 - 2^15. The last key has a cost that no minimum has.
constexpr int kShift = 6, kMostAtOnce = 1 << kShift;
constexpr int16_t kLowest = std::numeric_limits<int16_t>::min(), kNoKey = std::numeric_limits<int16_t>::max();
constexpr int kNoCost = 0xffff >> kShift;
static_assert(kBeyond < kNoCost, "keys do not fit into 16 bits");

constexpr int kCosts = kMostAtOnce + 2;  // of a pixel in a block: those of both neighbours, too
constexpr int kStride = kShorts + kColumns + kShorts;
typedef uint8_t Bits[kWide];
typedef uint8_t Along[kColumns];
typedef int16_t Costs[kStride];  // of a row of a tile, between two margins of kBeyond

struct Part {
  int x0, x1, y0, y1;
};

// Some neighbouring disparities of the search: first .. first + count - 1, counted from 0. Their costs have the numbers
// 1 .. count; 0 and count + 1 are those of their neighbours.
struct Block {
  int first, count;
};

// The codes of some rows, in three planes of bytes. Zeros on both sides stand for the outside of the image.
struct Codes {
  Codes(int rows, int w) : stride(w + 2 * kWide), bytes((size_t)rows * 3 * stride) {}
  uint8_t* row(int y, int plane) { return &bytes[(size_t)(3 * y + plane) * stride + kWide]; }
  int stride;
  std::vector<uint8_t> bytes;
};

// What one thread needs for a band of rows. Its tiles follow one another, so that the winners of the right image are
// complete.
struct Band {
  Band(const Search& o, int w)
      : left(kRows + 2 * kMostHalf, w), right(kRows + 2 * kMostHalf, w), best((size_t)kRows * o.kept * kColumns),
        right_cost((size_t)kRows * w) {}
  Codes left, right;
  Bits bits[kCosts];                 // different bits of a row of pixels
  Along along[kMostSide][kCosts];    // their sums along x, of the last rows
  Costs cost[kCosts];                // the sums of these, between two margins that are higher than all others
  std::vector<int64_t> best;         // of every row and rank: see look_up
  std::vector<int16_t> right_cost;
};

// ---- the cost --------------------------------------------------------------------------------------

DUALPIX_CLONES void split(const float* codes, int w, uint8_t* a, uint8_t* b, uint8_t* c) {
  for (int x = 0; x < w; ++x) {
    const int32_t code = (int32_t)codes[x];
    a[x] = (uint8_t)code;
    b[x] = (uint8_t)(code >> 8);
    c[x] = (uint8_t)(code >> 16);
  }
}

// Both bytes of a word are shifted. Bits that come from the other byte must be masked.
DUALPIX_INLINE vbyte shifted(vbyte v, int n) { return (vbyte)((vword)v >> n); }

// Number of bits in three bytes. An adder of their bits gives ones and twos, which are summed over 2, 4 and 8 bits.
DUALPIX_INLINE vbyte count_bits(vbyte a, vbyte b, vbyte c) {
  vbyte ones = a ^ b ^ c, twos = (a & b) | ((a ^ b) & c);
  ones -= shifted(ones, 1) & 0x55;
  twos -= shifted(twos, 1) & 0x55;
  ones = (ones & 0x33) + (shifted(ones, 2) & 0x33);
  twos = (twos & 0x33) + (shifted(twos, 2) & 0x33);
  const vbyte sum = ones + twos + twos;
  return (sum & 0x0f) + (shifted(sum, 4) & 0x0f);
}

// One row of a tile: its codes from column x0 - half on, what to pad, and how far the tile goes.
struct Line {
  const uint8_t *left[3], *right[3];  // right: of column 0
  int start, w;                       // column of the right image that is compared at disparity number 0
  int before, after, columns;         // the first column inside the image, the first after it, and those of the tile
};

DUALPIX_INLINE void compare(const Line& line, int number, uint8_t* bits) {
  const int start = std::min(std::max(line.start - number, -kWide), line.w);
  for (int x = 0; x < kWide; x += kBytes) {
    vbyte differ[3];
    for (int p = 0; p < 3; ++p)
      differ[p] = load_as<vbyte>(line.left[p] + x) ^ load_as<vbyte>(line.right[p] + start + x);
    store_as(bits + x, count_bits(differ[0], differ[1], differ[2]));
  }
  for (int x = 0; x < line.before; ++x) bits[x] = bits[line.before];
  for (int x = line.after; x < kWide; ++x) bits[x] = bits[line.after - 1];
}

// The sums of 2 H + 1 neighbours replace those of the row that leaves the window, and the cost changes by as much.
template <int H>
DUALPIX_INLINE void move_down(const uint8_t* bits, int columns, uint8_t* along, int16_t* cost) {
  typedef uint8_t bytes __attribute__((vector_size(kShorts)));
  typedef int8_t change __attribute__((vector_size(kShorts)));
  for (int x = 0; x < kColumns; x += kShorts) {
    bytes sum = load_as<bytes>(bits + x);
    for (int k = 1; k <= 2 * H; ++k) sum += load_as<bytes>(bits + x + k);
    const vshort more = __builtin_convertvector((change)(sum - load_as<bytes>(along + x)), vshort);
    store_as(cost + x, load_as<vshort>(cost + x) + more);
    store_as(along + x, sum);
  }
  for (int x = columns; x < kColumns; ++x) cost[x] = kBeyond;
}

DUALPIX_CLONES void add_row(const Line& line, int half, int costs, Bits* bits, Along* along, Costs* cost) {
  for (int i = 0; i < costs; ++i) compare(line, i, bits[i]);
  auto move = [&](auto H) __attribute__((always_inline)) {
    for (int i = 0; i < costs; ++i) move_down<H>(bits[i], line.columns, along[i], cost[i] + kShorts);
  };
  switch (half) {
    case 0: return move(std::integral_constant<int, 0>());
    case 1: return move(std::integral_constant<int, 1>());
    default: return move(std::integral_constant<int, kMostHalf>());
  }
}

// ---- the minima ------------------------------------------------------------------------------------

DUALPIX_INLINE vshort key_of(vshort cost, int number) {
  return (vshort)(((vword)cost << kShift) + (uint16_t)(number - 1 + kLowest));  // may wrap around
}

// The K lowest minima of kShorts pixels in a block, as keys: cost[i] is that of disparity number i.
template <int K>
DUALPIX_INLINE void lowest(const Costs* cost, int x, const Block& block, vshort* key) {
  for (int k = 0; k < K; ++k) key[k] = vshort{} + kNoKey;
  vshort before = load_as<vshort>(cost[0] + x), at = load_as<vshort>(cost[1] + x);
  for (int i = 1; i <= block.count; ++i) {
    const vshort after = load_as<vshort>(cost[i + 1] + x);
    const vshort minimum = (at <= before) & (at < after);
    vshort value = minimum ? key_of(at, i) : vshort{} + kNoKey;
    for (int k = 0; k < K; ++k) sort(key[k], value);
    before = at;
    at = after;
  }
}

// Candidates of kShorts pixels as one number each, which sorts by cost and disparity: these two and the costs on both
// sides, in 16 bits each.
DUALPIX_INLINE void look_up(const Costs* cost, int x, const Block& block, vshort key, int64_t* candidates) {
  const vword value = (vword)key ^ (uint16_t)kLowest, numbers = value & (uint16_t)(kMostAtOnce - 1);
  uint16_t at[kShorts], number[kShorts], before[kShorts], after[kShorts];
  store_as(at, value >> kShift);
  store_as(number, numbers);
  for (int i = 0; i < kShorts; ++i) {
    before[i] = (uint16_t)cost[number[i]][x + i];
    after[i] = (uint16_t)cost[number[i] + 2][x + i];
  }
  for (int i = 0; i < kShorts; ++i) {
    const uint32_t first = (uint32_t)at[i] << 16 | (uint32_t)(number[i] + block.first);
    const uint32_t second = (uint32_t)before[i] << 16 | after[i];
    candidates[i] = (int64_t)((uint64_t)first << 32 | second);
  }
}

// The lowest K of two sorted lists of K: the lesser of a(k) and b(K - 1 - k), which are sorted again.
template <int K>
DUALPIX_INLINE void merge(const int64_t (*others)[kShorts], int i, int64_t* best) {
  vlong a[K];
  for (int k = 0; k < K; ++k) {
    vlong b = load_as<vlong>(others[K - 1 - k] + i);
    sort(a[k] = load_as<vlong>(best + k * kColumns + i), b);
  }
  for (int round = 0; round < K; ++round)
    for (int k = round % 2; k + 1 < K; k += 2) sort(a[k], a[k + 1]);
  for (int k = 0; k < K; ++k) store_as(best + k * kColumns + i, a[k]);
}

DUALPIX_CLONES void meet_left(int kept, const Costs* cost, const Block& block, int columns, int64_t* best) {
  with_kept(kept, [&](auto K) __attribute__((always_inline)) {
    for (int x = 0; x < columns; x += kShorts) {
      vshort key[K];
      lowest<K>(cost, x + kShorts, block, key);
      int64_t found[K][kShorts];
      for (int k = 0; k < K; ++k) look_up(cost, x + kShorts, block, key[k], found[k]);
      for (int i = 0; i < kShorts; i += kLongs) merge<K>(found, i, best + x);
    }
  });
}

// The winners of the right image. Its pixel i is compared with column i - (count - number) of the tile.
DUALPIX_CLONES void meet_right(const Costs* cost, const Block& block, int16_t* keys) {
  for (int x = 0; x < kColumns + block.count; x += kShorts) {
    vshort key = vshort{} + kNoKey;
    const int last = block.count - x + kColumns - 1;  // whose column is still one of the tile
    for (int i = std::max(1, block.count - x - kShorts + 1); i <= std::min(block.count, last); ++i) {
      const vshort at = load_as<vshort>(cost[i] + kShorts + x - (block.count - i));
      vshort value = key_of(at, i);
      sort(key, value);
    }
    store_as(keys + x, key);
  }
}

DUALPIX_CLONES void keep_right(const int16_t* keys, int n, float d, int16_t* best, float* winner) {
  for (int x = 0; x < n; ++x) {
    const int value = keys[x] - kLowest, cost = value >> kShift;
    const bool wins = cost < best[x];
    winner[x] = wins ? d + (float)(value & (kMostAtOnce - 1)) : winner[x];
    best[x] = wins ? (int16_t)cost : best[x];
  }
}

// ---- tiles -----------------------------------------------------------------------------------------

void search_row(const Found& found, int w, const Part& t, int y, const Search& o, const Block& block, Band& band) {
  meet_left(o.kept, band.cost, block, t.x1 - t.x0, &band.best[(size_t)(y - t.y0) * o.kept * kColumns]);
  int16_t keys[kColumns + kMostAtOnce + kShorts];
  meet_right(band.cost, block, keys);
  // Key i is that of column x + i of the right image. The columns of the tile and of the image are inside.
  const int d = o.first + block.first, x = t.x0 - (d + block.count - 1);
  const int x0 = std::max(x, 0), x1 = std::min(x + t.x1 - t.x0 + block.count - 1, w);
  if (x0 < x1)
    keep_right(keys + x0 - x, x1 - x0, (float)d, &band.right_cost[(size_t)(y - t.y0) * w + x0],
               found.right_winner + (size_t)y * w + x0);
}

void search_block(const Found& found, int h, int w, const Part& t, const Search& o, const Block& block, Band& band) {
  const int half = o.window.half, side = 2 * half + 1, top = std::max(t.y0 - half, 0);
  std::fill_n(&band.along[0][0][0], sizeof band.along, 0);
  for (Costs& cost : band.cost) {
    std::fill_n(cost, kStride, (int16_t)kBeyond);
    std::fill_n(cost + kShorts, kColumns, 0);
  }
  Line line = {};
  line.start = t.x0 - half - (o.first + block.first - 1);
  line.w = w;
  line.before = std::max(half - t.x0, 0);
  line.after = std::min(w - t.x0 + half, kWide);
  line.columns = t.x1 - t.x0;
  for (int y = t.y0 - half; y < t.y1 + half; ++y) {
    const int row = std::min(std::max(y, 0), h - 1) - top;
    for (int p = 0; p < 3; ++p) {
      line.left[p] = band.left.row(row, p) + t.x0 - half;
      line.right[p] = band.right.row(row, p);
    }
    add_row(line, half, block.count + 2, band.bits, band.along[(y + side) % side], band.cost);
    if (y >= t.y0 + half) search_row(found, w, t, y - half, o, block, band);
  }
}

// Costs are means over the window, curvatures halves of the mean rises.
DUALPIX_CLONES void write_row(const int64_t* best, int n, float scale, float first, Minimum minimum,
                              float* cost, float* disparity, float* curvature) {
  for (int x = 0; x < n; ++x) {
    const int at = (int)(best[x] >> 48), i = (int)(best[x] >> 32) & 0xffff;
    const int l = ((int)(best[x] >> 16) & 0xffff) - at, r = ((int)best[x] & 0xffff) - at;
    const float offset = minimum == Minimum::whole ? 0.0f : 0.5f * (float)(l - r) / (float)(l + r);
    cost[x] = at >= kNoCost ? kNoCandidate : scale * (float)at;
    disparity[x] = at >= kNoCost ? 0.0f : first + (float)i + offset;
    curvature[x] = at >= kNoCost ? 0.0f : 0.5f * scale * (float)(l + r);
  }
}

void write_tile(const Band& band, const Found& found, int h, int w, const Part& t, const Search& o) {
  const float scale = o.window.taps[0] * o.window.taps[0];
  for (int k = 0; k < o.kept; ++k)
    for (int y = t.y0; y < t.y1; ++y) {
      const int64_t* best = &band.best[((size_t)(y - t.y0) * o.kept + k) * kColumns];
      const size_t at = ((size_t)k * h + y) * w + t.x0;
      write_row(best, t.x1 - t.x0, scale, (float)o.first, o.minimum, found.cost + at, found.disparity + at,
                found.curvature + at);
    }
}

void search_band(const float* left, const float* right, const Found& found, int h, int w, int y0, int y1,
                 const Search& o, Band& band) {
  const int half = o.window.half, top = std::max(y0 - half, 0);
  for (int y = top; y < std::min(y1 + half, h); ++y)
    for (auto [view, codes] : {std::make_pair(left, &band.left), std::make_pair(right, &band.right)})
      split(view + (size_t)y * w, w, codes->row(y - top, 0), codes->row(y - top, 1), codes->row(y - top, 2));
  std::fill(band.right_cost.begin(), band.right_cost.end(), kNoKey);
  std::fill_n(found.right_winner + (size_t)y0 * w, (size_t)(y1 - y0) * w, std::numeric_limits<float>::quiet_NaN());
  for (int x0 = 0; x0 < w; x0 += kColumns) {
    const Part tile = {x0, std::min(x0 + kColumns, w), y0, y1};
    std::fill(band.best.begin(), band.best.end(), std::numeric_limits<int64_t>::max());
    for (int first = 1; first < o.count - 1; first += kMostAtOnce)
      search_block(found, h, w, tile, o, {first, std::min(kMostAtOnce, o.count - 1 - first)}, band);
    write_tile(band, found, h, w, tile, o);
  }
}

}  // namespace

constexpr float kLeastTap = 1e-10f, kMostTap = 1e10f;  // the costs times such a tap are normal numbers

bool in_whole_numbers(const Search& o) {
  const float* taps = o.window.taps;
  return o.cost == Cost::census && o.window.half <= kMostHalf && o.count < 1 << 15 &&
         taps[0] > kLeastTap && taps[0] < kMostTap &&
         std::all_of(taps, taps + o.window.half + 1, [=](float tap) { return tap == taps[0]; });
}

void find_in_whole_numbers(const float* left, const float* right, const Found& found, int h, int w,
                           const Search& options, int threads) {
  const int rows = h / (2 * kRows) < threads ? kRows / 2 : kRows;
  auto make_band = [&] { return std::make_unique<Band>(options, w); };
  parallel_for((h + rows - 1) / rows, threads, make_band, [&](int i, std::unique_ptr<Band>& band) {
    search_band(left, right, found, h, w, i * rows, std::min(i * rows + rows, h), options, *band);
  });
}

}  // namespace dualpix

#include "match/census_search.h"

#include <limits>
#include <memory>

#include "common/parallel.h"

namespace dualpix {

namespace {

constexpr int kRows = 64;                // of a band; half as many in small images
constexpr int kMostHalf = 2, kMostSide = 2 * kMostHalf + 1;
constexpr int kSpan = 4 * kBytes;        // columns of a tile and of the windows around it
constexpr int kColumns = kSpan - 2 * kMostHalf;  // of a tile
constexpr int kBits = 24;                // of a census code
constexpr int kBeyond = kBits * kMostSide * kMostSide + 1;  // a cost higher than all others
static_assert(kBits * kMostSide <= 127, "the sum of a row of a window, and its change, must fit into a byte");

// Disparities are searched in blocks of up to kMostAtOnce. Two neighbours make a pair; no two minima are in one pair.
// A cost has a key, which sorts by cost and pair: (cost << kShift) + pair - 2^15. The last key has a cost that no
// minimum has.
constexpr int kShift = 6, kPairs = 1 << kShift, kMostAtOnce = 2 * kPairs;
constexpr int16_t kLowest = std::numeric_limits<int16_t>::min(), kNoKey = std::numeric_limits<int16_t>::max();
constexpr int kNoCost = 0xffff >> kShift;
constexpr int16_t kBeyondKey = (kBeyond << kShift) + kLowest;
static_assert(kBeyond < kNoCost, "keys do not fit into 16 bits");

constexpr int kCosts = kMostAtOnce + 2;  // of a pixel in a block: those of both neighbours, too
constexpr int kTogether = 16;            // disparities whose bits are kept
constexpr int kLine = 64;                // bytes that the cache holds together
constexpr int kMargin = 2 * kShorts, kStride = kMargin + kSpan;
typedef uint8_t Bits[kSpan + kBytes];
typedef uint8_t Along[kSpan];
typedef int16_t Keys[kStride];  // of a row of a tile, after a margin of kBeyondKey

struct Part {
  int x0, x1, y0, y1;
};

// Some neighbouring disparities of the search: first .. first + count - 1, counted from 0. Their costs have the numbers
// 1 .. count; 0 and count + 1 are those of their neighbours. Pair p has the numbers 2 p + 1 and 2 p + 2.
struct Block {
  int first, count;
};
constexpr int kFirst = 1;  // the first of the first block: disparity 0 is no minimum

// The codes of some rows, in three planes of bytes. Zeros on both sides stand for the outside of the image.
struct Codes {
  Codes(int rows, int w) : stride(w + 2 * kSpan), bytes((size_t)rows * 3 * stride) {}
  uint8_t* row(int y, int plane) { return &bytes[(size_t)(3 * y + plane) * stride + kSpan]; }
  int stride;
  std::vector<uint8_t> bytes;
};

// What one thread needs for a band of rows. Its tiles follow one another, so that the winners of the right image are
// complete.
struct Band {
  Band(const Search& o, int w)
      : left(kRows + 2 * kMostHalf, w), right(kRows + 2 * kMostHalf, w), best((size_t)kRows * o.kept * kSpan),
        right_cost((size_t)kRows * w) {}
  Codes left, right;
  alignas(kLine) Bits bits[kTogether] = {};       // different bits of a row of pixels
  alignas(kLine) Along along[kMostSide][kCosts];  // their sums along x, of the last rows
  alignas(kLine) Keys key[kCosts + 1];            // of the sums of these; the last has the margin after them
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

DUALPIX_INLINE vbyte bits_of(vbyte mask, vbyte yes, vbyte no) { return (mask & yes) | (~mask & no); }

// Number of bits in three bytes. An adder of their bits gives ones and twos, which make eight numbers of two bits.
// These are summed over 4 and 8 bits.
DUALPIX_INLINE vbyte count_bits(vbyte a, vbyte b, vbyte c) {
  const vbyte differ = a ^ b, ones = differ ^ c, twos = bits_of(differ, c, a), lower = vbyte{} + 0x55;
  const vbyte even = bits_of(lower, ones, twos + twos), odd = bits_of(lower, shifted(ones, 1), twos);
  const vbyte sum = (even & 0x33) + (shifted(even, 2) & 0x33) + (odd & 0x33) + (shifted(odd, 2) & 0x33);
  return (sum & 0x0f) + (shifted(sum, 4) & 0x0f);
}

// One row of a tile: its codes from column x0 - half on, what to pad, and how far the tile goes.
struct Line {
  const uint8_t *left[3], *right[3];  // right: of column 0
  int start, w;                       // column of the right image that is compared at disparity number 0
  int before, after, wide;            // the first column inside the image, the first after it, and those that count
  int columns;                        // of the tile
};

// The different bits at the disparities number first .. first + n - 1.
DUALPIX_INLINE void compare(const Line& line, int first, int n, Bits* bits) {
  int start[kTogether];
  for (int i = 0; i < n; ++i) start[i] = std::min(std::max(line.start - first - i, -kSpan), line.w);
  for (int x = 0; x < line.wide; x += kBytes) {
    vbyte left[3];
    for (int p = 0; p < 3; ++p) left[p] = load_as<vbyte>(line.left[p] + x);
    const uint8_t *a = line.right[0] + x, *b = line.right[1] + x, *c = line.right[2] + x;
    for (int i = 0; i < n; ++i) {
      auto differ = [=](vbyte code, const uint8_t* from) { return code ^ load_as<vbyte>(from + start[i]); };
      store_as(bits[i] + x, count_bits(differ(left[0], a), differ(left[1], b), differ(left[2], c)));
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int x = 0; x < line.before; ++x) bits[i][x] = bits[i][line.before];
    for (int x = line.after; x < line.wide; ++x) bits[i][x] = bits[i][line.after - 1];
  }
}

// The sums of 2 H + 1 neighbours replace those of the row that leaves the window, and the cost changes by as much.
template <int H>
DUALPIX_INLINE void move_down(const uint8_t* __restrict bits, int columns, uint8_t* __restrict along,
                              int16_t* __restrict key) {
  for (int x = 0; x < kSpan; ++x) {
    uint8_t sum = bits[x];
    for (int k = 1; k <= 2 * H; ++k) sum = (uint8_t)(sum + bits[x + k]);
    const int8_t more = (int8_t)(sum - along[x]);
    along[x] = sum;
    key[x] = (int16_t)(key[x] + more * (1 << kShift));
  }
  for (int x = columns; x < kColumns; ++x) key[x] = kBeyondKey;
  for (int x = kColumns; x < kSpan; ++x) key[x] = kBeyondKey;
}

DUALPIX_CLONES void add_row(const Line& line, int half, int costs, Bits* bits, Along* along, Keys* key) {
  auto add = [&](auto H) __attribute__((always_inline)) {
    for (int first = 0; first < costs; first += kTogether) {
      const int n = std::min(kTogether, costs - first);
      compare(line, first, n, bits);
      for (int i = 0; i < n; ++i) move_down<H>(bits[i], line.columns, along[first + i], key[first + i] + kMargin);
    }
  };
  switch (half) {
    case 0: return add(std::integral_constant<int, 0>());
    case 1: return add(std::integral_constant<int, 1>());
    default: return add(std::integral_constant<int, kMostHalf>());
  }
}

// ---- the minima ------------------------------------------------------------------------------------

// The K lowest minima of kShorts pixels in a block: key[i] is that of disparity number i. The cost rises towards a key
// of the same pair if that is greater, and towards one of the next pair if that is greater by more than 1.
template <int K>
DUALPIX_INLINE void lowest(const Keys* key, int x, const Block& block, vshort* found) {
  const vshort none = vshort{} + kNoKey;
  for (int k = 0; k < K; ++k) found[k] = none;
  vshort first = load_as<vshort>(key[1] + x), rises_before = load_as<vshort>(key[0] + x) < first;
  for (int i = 1; i <= block.count; i += 2) {
    const vshort second = load_as<vshort>(key[i + 1] + x), rises = first < second;
    const vshort if_first = rises_before ? none : first;
    vshort if_second = none;
    if (i < block.count) {
      first = load_as<vshort>(key[i + 2] + x);
      rises_before = second + 1 < first;
      if_second = rises_before ? second : none;
    }
    vshort value = rises ? if_first : if_second;
    for (int k = 0; k < K; ++k) sort(found[k], value);
  }
}

DUALPIX_INLINE vword cost_of(vshort key) { return ((vword)key ^ (uint16_t)kLowest) >> kShift; }

DUALPIX_INLINE vword pair_of(vshort key) { return (vword)key & (uint16_t)(kPairs - 1); }

// The keys of the pairs of K minima, and those before and after.
template <int K>
DUALPIX_INLINE void look_up(const Keys* key, int x, const vshort* found, int16_t (*around)[4][kShorts]) {
  uint16_t start[K][kShorts];
  for (int k = 0; k < K; ++k) store_as(start[k], (uint16_t)(2 * kStride) * pair_of(found[k]));
  for (int k = 0; k < K; ++k)
    for (int i = 0; i < kShorts; ++i) {
      const int16_t* from = key[0] + x + i + (size_t)start[k][i];
      for (int n = 0; n < 4; ++n) around[k][n][i] = from[n * kStride];
    }
}

// Minima of kShorts pixels as one number each, which sorts by cost and disparity: these two and the costs on both
// sides, in 16 bits each.
DUALPIX_INLINE void pack(vshort found, const int16_t (*around)[kShorts], const Block& block, int64_t* candidates) {
  vshort at[4];
  for (int n = 0; n < 4; ++n) at[n] = load_as<vshort>(around[n]);
  const vshort second = at[2] == found;
  uint16_t cost[kShorts], number[kShorts], before[kShorts], after[kShorts];
  store_as(cost, cost_of(found));
  store_as(number, 2 * pair_of(found) - (vword)second);  // true is -1
  store_as(before, cost_of(second ? at[1] : at[0]));
  store_as(after, cost_of(second ? at[3] : at[2]));
  for (int i = 0; i < kShorts; ++i) {
    const uint32_t high = (uint32_t)cost[i] << 16 | (uint32_t)(number[i] + block.first);
    const uint32_t low = (uint32_t)before[i] << 16 | after[i];
    candidates[i] = (int64_t)((uint64_t)high << 32 | low);
  }
}

// The lowest K of two sorted lists of K: the lesser of a(k) and b(K - 1 - k), which are sorted again.
template <int K>
DUALPIX_INLINE void merge(const int64_t (*others)[kShorts], int i, int64_t* best) {
  vlong a[K];
  for (int k = 0; k < K; ++k) {
    vlong b = load_as<vlong>(others[K - 1 - k] + i);
    sort(a[k] = load_as<vlong>(best + k * kSpan + i), b);
  }
  for (int round = 0; round < K; ++round)
    for (int k = round % 2; k + 1 < K; k += 2) sort(a[k], a[k + 1]);
  for (int k = 0; k < K; ++k) store_as(best + k * kSpan + i, a[k]);
}

DUALPIX_CLONES void meet_left(int kept, const Keys* key, const Block& block, int columns, int64_t* best) {
  with_kept(kept, [&](auto K) __attribute__((always_inline)) {
    for (int x = 0; x < columns; x += kShorts) {
      vshort found[K];
      lowest<K>(key, kMargin + x, block, found);
      int16_t around[K][4][kShorts];
      look_up<K>(key, kMargin + x, found, around);
      int64_t candidates[K][kShorts];
      for (int k = 0; k < K; ++k) pack(found[k], around[k], block, candidates[k]);
      if (block.first == kFirst)
        for (int k = 0; k < K; ++k) std::copy_n(candidates[k], kShorts, best + k * kSpan + x);
      else
        for (int i = 0; i < kShorts; i += kLongs) merge<K>(candidates, i, best + x);
    }
  });
}

// The winners of the right image, among the first and the second of the pairs. Its pixel i is compared with column
// i - (count - number) of the tile.
DUALPIX_CLONES void meet_right(const Keys* key, const Block& block, int16_t* firsts, int16_t* seconds) {
  for (int x = 0; x < kColumns + block.count; x += kShorts) {
    const int begin = std::max(1, block.count - x - kShorts + 1);
    const int end = std::min(block.count, block.count - x + kColumns - 1);  // whose column is still one of the tile
    auto least = [&](int i) __attribute__((always_inline)) {
      vshort lowest = vshort{} + kNoKey;
      for (; i <= end; i += 2) {
        vshort value = load_as<vshort>(key[i] + kMargin + x - (block.count - i));
        sort(lowest, value);
      }
      return lowest;
    };
    store_as(firsts + x, least(begin + 1 - begin % 2));
    store_as(seconds + x, least(begin + begin % 2));
  }
}

DUALPIX_CLONES void keep_right(const int16_t* firsts, const int16_t* seconds, int n, float d, int16_t* best,
                               float* winner) {
  for (int x = 0; x < n; ++x) {
    const bool second = seconds[x] < firsts[x];
    const int value = (second ? seconds[x] : firsts[x]) - kLowest, cost = value >> kShift;
    const bool wins = cost < best[x];
    winner[x] = wins ? d + (float)(2 * (value & (kPairs - 1)) + second) : winner[x];
    best[x] = wins ? (int16_t)cost : best[x];
  }
}

// ---- tiles -----------------------------------------------------------------------------------------

void search_row(const Found& found, int w, const Part& t, int y, const Search& o, const Block& block, Band& band) {
  meet_left(o.kept, band.key, block, t.x1 - t.x0, &band.best[(size_t)(y - t.y0) * o.kept * kSpan]);
  int16_t firsts[kColumns + kMostAtOnce + kShorts], seconds[kColumns + kMostAtOnce + kShorts];
  meet_right(band.key, block, firsts, seconds);
  // Key i is that of column x + i of the right image. The columns of the tile and of the image are inside.
  const int d = o.first + block.first, x = t.x0 - (d + block.count - 1);
  const int x0 = std::max(x, 0), x1 = std::min(x + t.x1 - t.x0 + block.count - 1, w);
  if (x0 < x1)
    keep_right(firsts + x0 - x, seconds + x0 - x, x1 - x0, (float)d, &band.right_cost[(size_t)(y - t.y0) * w + x0],
               found.right_winner + (size_t)y * w + x0);
}

void search_block(const Found& found, int h, int w, const Part& t, const Search& o, const Block& block, Band& band) {
  const int half = o.window.half, side = 2 * half + 1, top = std::max(t.y0 - half, 0);
  std::fill_n(&band.along[0][0][0], sizeof band.along, 0);
  for (int i = 0; i <= kCosts; ++i) {
    const int pair = std::min(std::max(i - 1, 0) / 2, kPairs - 1);
    std::fill_n(band.key[i], kMargin, kBeyondKey);
    std::fill_n(band.key[i] + kMargin, kSpan, (int16_t)(pair + kLowest));
  }
  Line line = {};
  line.start = t.x0 - half - (o.first + block.first - 1);
  line.w = w;
  line.before = std::max(half - t.x0, 0);
  line.columns = t.x1 - t.x0;
  line.wide = line.columns + 2 * half;
  line.after = std::min(w - t.x0 + half, line.wide);
  for (int y = t.y0 - half; y < t.y1 + half; ++y) {
    const int row = std::min(std::max(y, 0), h - 1) - top;
    for (int p = 0; p < 3; ++p) {
      line.left[p] = band.left.row(row, p) + t.x0 - half;
      line.right[p] = band.right.row(row, p);
    }
    add_row(line, half, block.count + 2, band.bits, band.along[(y + side) % side], band.key);
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
      const int64_t* best = &band.best[((size_t)(y - t.y0) * o.kept + k) * kSpan];
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
    for (int first = kFirst; first < o.count - 1; first += kMostAtOnce)
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

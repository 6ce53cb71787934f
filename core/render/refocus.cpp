#include "render/refocus.h"

#include <cstdlib>
#include <vector>

#include "common/mirror.h"
#include "common/parallel.h"
#include "render/defocus.h"
#include "render/light.h"

namespace dualpix {

namespace {

constexpr int kTile = 256;  // px, side
constexpr int kSlices = 2 * ((kMostCode + kSlice / 2) / kSlice) + 1;
constexpr int kNearest = kSlices / 2;  // the slices are numbered -kNearest to kNearest
constexpr int kFree = kSlices;         // no slice
constexpr float kLeast = 1e-6f;        // A pixel that less light than this reaches keeps its own colour.

typedef float Light __attribute__((vector_size(16)));  // red, green, blue, cover

// A pixel that spreads its light; x and y count from the corner of the tile.
struct Source {
  Light light;
  int x, y, spot;
};

struct Box {
  int left, top, right, bottom;

  void include(int x, int y, int reach) {
    left = std::min(left, x - reach), right = std::max(right, x + reach + 2);
    top = std::min(top, y - reach), bottom = std::max(bottom, y + reach + 1);
  }
};

// The pixels of one slice whose light may reach a tile.
struct Slice {
  std::vector<Source> sources;
  Box box;

  void clear() {
    sources.clear();
    box = {kTile, kTile, 0, 0};
  }
};

// The cover of a slice that does not hide anything yet.
struct Waiting {
  int slice = kFree;
  std::vector<float> cover = std::vector<float>(kTile * kTile);
};

// Working memory of a thread.
struct Scratch {
  explicit Scratch(int stride) : spread((size_t)kTile * stride), slices(kSlices) {}

  std::vector<Light> spread;                                          // one slice, with margins left and right
  std::vector<Light> total = std::vector<Light>(kTile * kTile);       // sum of seen * light, then of seen * cover
  std::vector<float> covered = std::vector<float>(kTile * kTile);     // by slices in front
  Waiting waiting[2];
  std::vector<Slice> slices;
};

struct Tile {
  int x, y, w, h;
  // How far a pixel is outside of the tile.
  int distance(int px, int py) const {
    return std::max({x - px, px - (x + w - 1), y - py, py - (y + h - 1)});
  }
};

// ---- collecting the sources of a tile ------------------------------------------------------------

template <class T>
struct Scene {
  const Photo<T>& photo;
  const int16_t *codes, *behind;
  const Decoder<T> decode;
  Spots& spots;
  const std::vector<int>& reach;  // by code

  Light light(size_t pixel) const {
    Light c = {0, 0, 0, 1};
    for (int k = 0; k < photo.channels; ++k) c[k] = decode(photo.pixels[pixel * photo.channels + k]);
    return c;
  }

  // Adds the pixel `from`, seen at (px, py), if its light reaches the tile.
  void add(const Tile& tile, int px, int py, size_t from, size_t place, std::vector<Slice>& slices) const {
    const int code = codes[from], far = reach[std::abs(code)];
    if (tile.distance(px, py) > far) return;
    Slice& slice = slices[slice_of(code) + kNearest];
    const int number = spots.number((int)(place % photo.w), (int)(place / photo.w), photo.h, photo.w, code);
    spots.make(number);
    slice.sources.push_back({light(from), px - tile.x, py - tile.y, number});
    slice.box.include(px - tile.x, py - tile.y, far);
  }

  void collect(const Tile& tile, std::vector<Slice>& slices) const {
    const int most = reach.back();
    for (Slice& slice : slices) slice.clear();
    for (int py = tile.y - most; py < tile.y + tile.h + most; ++py) {
      const size_t row = (size_t)mirror(py, photo.h) * photo.w;
      for (int px = tile.x - most; px < tile.x + tile.w + most; ++px) {
        const size_t place = row + (px >= 0 && px < photo.w ? px : mirror(px, photo.w));
        add(tile, px, py, place, place, slices);
        if (const int sample = behind[place]) {
          const int distance = sample / 4, direction = sample % 4;
          const ptrdiff_t step = (ptrdiff_t)kDown[direction] * photo.w + kAcross[direction];
          add(tile, px, py, place + distance * step, place, slices);
        }
      }
    }
  }
};

// ---- one slice -----------------------------------------------------------------------------------

// Adds the spots of all sources to `corner`, the first pixel of the tile. Only the rows of the tile are kept.
DUALPIX_CLONES void spread(const std::vector<Source>& sources, const Spots& spots, int rows, int stride, Light* corner) {
  for (const Source& source : sources) {
    const Spot& spot = spots[source.spot];
    const int count = (int)spot.start.size() - 1, above = source.y + spot.top;
    const int first = std::min(std::max(-above, 0), count), last = std::max(std::min(rows - above, count), first);
    const Tap *tap = spot.taps.data() + spot.start[first], *end = spot.taps.data() + spot.start[last];
    Light* at = corner + ((ptrdiff_t)source.y * stride + source.x);
    const Light light = source.light;
    for (; tap < end; ++tap) at[tap->offset] += light * tap->weight;
  }
}

// Lays a row of a slice behind what is there, and empties it. [left, right) may extend beyond the w pixels of the tile.
DUALPIX_CLONES void lay_row(Light* row, int left, int right, int w, bool summed, const float* covered, Light* total,
                            float* cover) {
  Light sum = {};
  for (int x = left; x < 0; ++x) sum += row[x];
  if (!summed) sum = Light{};
  const float keep = summed ? 1.0f : 0.0f;
  for (int x = std::max(left, 0); x < std::min(right, w); ++x) {
    sum = keep * sum + row[x];
    total[x] += std::max(1 - covered[x], 0.0f) * sum;
    cover[x] = sum[3];
  }
  std::fill(row + left, row + right, Light{});
}

// Lets the slices hide that lie kHiding or more in front of this one.
void hide(Scratch& s, int slice) {
  for (Waiting& front : s.waiting) {
    if (front.slice == kFree || front.slice - slice < kHiding) continue;
    for (int i = 0; i < kTile * kTile; ++i) s.covered[i] += front.cover[i];
    front.slice = kFree;
  }
}

void lay_slice(const Tile& tile, int number, const Slice& slice, const Spots& spots, int stride, int margin,
               Scratch& s) {
  hide(s, number);
  Waiting& own = s.waiting[s.waiting[0].slice == kFree ? 0 : 1];  // only the next slice in front can still wait
  own.slice = number;
  std::fill(own.cover.begin(), own.cover.end(), 0.0f);
  spread(slice.sources, spots, tile.h, stride, s.spread.data() + margin);
  const bool summed = spots[slice.sources[0].spot].summed;
  for (int y = std::max(slice.box.top, 0); y < std::min(slice.box.bottom, tile.h); ++y)
    lay_row(s.spread.data() + margin + (size_t)y * stride, slice.box.left, slice.box.right, tile.w, summed,
            s.covered.data() + y * kTile, s.total.data() + y * kTile, own.cover.data() + y * kTile);
}

// ---- the result ----------------------------------------------------------------------------------

// colours = light / cover, from 0 to 1, as sRGB if not linear. Where there is no light, the cover stays below kLeast.
DUALPIX_CLONES void develop(const Light* total, int w, bool linear, Light* colours) {
  for (int x = 0; x < w; x += 2) {
    const Light a = total[x], b = x + 1 < w ? total[x + 1] : a;
    vfloat v = {a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]};
    const vfloat cover = {a[3], a[3], a[3], a[3], b[3], b[3], b[3], b[3]};
    v = min(max(v / max(cover, splat(kLeast)), splat(0)), splat(1));
    if (!linear) v = linear_to_srgb(v);
    colours[x] = Light{v[0], v[1], v[2], a[3]};
    if (x + 1 < w) colours[x + 1] = Light{v[4], v[5], v[6], b[3]};
  }
}

template <class T>
void write(const Tile& tile, const Photo<T>& photo, const Scratch& s, T* out) {
  std::vector<Light> colours(tile.w);
  for (int y = 0; y < tile.h; ++y) {
    develop(s.total.data() + y * kTile, tile.w, photo.linear, colours.data());
    const size_t row = ((size_t)(tile.y + y) * photo.w + tile.x) * photo.channels;
    for (int x = 0; x < tile.w; ++x)
      for (int k = 0; k < photo.channels; ++k) {
        const size_t i = row + (size_t)x * photo.channels + k;
        out[i] = colours[x][3] > kLeast ? stored<T>(colours[x][k]) : photo.pixels[i];
      }
  }
}

}  // namespace

template <class T>
void refocus(const Photo<T>& photo, const Defocus& defocus, const Openings& openings, T* out, int threads) {
  const size_t pixels = (size_t)photo.h * photo.w;
  std::vector<int16_t> codes(pixels), behind(pixels);
  defocus_codes(defocus, codes.data(), photo.h, photo.w, threads);
  find_background(codes.data(), behind.data(), photo.h, photo.w, threads);
  int largest = 0;
  for (const int16_t code : codes) largest = std::max(largest, std::abs((int)code));
  std::vector<int> reach(largest + 1);
  const float extent = extent_of(openings);
  for (int code = 0; code <= largest; ++code) reach[code] = spot_reach(extent, code);
  // A pixel beside the tile may reach as far to the other side.
  const int margin = 2 * reach.back() + 2, stride = kTile + 2 * margin;
  Spots spots(openings, largest, stride);
  const Scene<T> scene{photo, codes.data(), behind.data(), Decoder<T>(photo.linear), spots, reach};
  const int across = (photo.w + kTile - 1) / kTile, down = (photo.h + kTile - 1) / kTile;
  parallel_for(across * down, threads, [&] { return Scratch(stride); }, [&](int i, Scratch& s) {
    const int x = i % across * kTile, y = i / across * kTile;
    const Tile tile{x, y, std::min(kTile, photo.w - x), std::min(kTile, photo.h - y)};
    scene.collect(tile, s.slices);
    std::fill(s.total.begin(), s.total.end(), Light{});
    std::fill(s.covered.begin(), s.covered.end(), 0.0f);
    for (Waiting& each : s.waiting) each.slice = kFree;
    for (int slice = kNearest; slice >= -kNearest; --slice) {
      const Slice& found = s.slices[slice + kNearest];
      if (!found.sources.empty()) lay_slice(tile, slice, found, spots, stride, margin, s);
    }
    write(tile, photo, s, out);
  });
}

template void refocus(const Photo<uint8_t>&, const Defocus&, const Openings&, uint8_t*, int);
template void refocus(const Photo<uint16_t>&, const Defocus&, const Openings&, uint16_t*, int);
template void refocus(const Photo<float>&, const Defocus&, const Openings&, float*, int);

}  // namespace dualpix

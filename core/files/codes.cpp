#include "files/codes.h"

#include <algorithm>
#include <cstring>

namespace dualpix {

size_t unpack_bits(const uint8_t* in, size_t size, uint8_t* out, size_t room) {
  size_t done = 0;
  for (size_t i = 0; i < size && done < room;) {
    const int code = (int8_t)in[i++];
    if (code >= 0) {  // code + 1 bytes as they are
      const size_t n = std::min({(size_t)code + 1, size - i, room - done});
      std::memcpy(out + done, in + i, n);
      i += (size_t)code + 1, done += n;
    } else if (code != -128 && i < size) {  // one byte, 1 - code times
      const size_t n = std::min((size_t)(1 - code), room - done);
      std::memset(out + done, in[i++], n);
      done += n;
    }
  }
  return done;
}

// A code stands for bytes that were written before: where they begin in `out`, and how many they are. So no table of
// strings is needed.
size_t unpack_lzw(const uint8_t* in, size_t size, uint8_t* out, size_t room) {
  constexpr unsigned kClear = 256, kEnd = 257, kFirst = 258, kCodes = 4096;
  struct String {
    size_t start, length;
  };
  String strings[kCodes];  // from kFirst on; below `next` all are set
  size_t done = 0, before = 0, length = 0;  // what is written; the string before: where it begins and its length
  unsigned next = kFirst, width = 9;
  uint64_t bits = 0;  // bits that were read from `in`, the last `have` of them not yet used
  unsigned have = 0;
  for (size_t i = 0; done < room;) {
    for (; have < width && i < size; have += 8) bits = bits << 8 | in[i++];
    if (have < width) break;
    have -= width;
    const unsigned code = (unsigned)(bits >> have) & ((1u << width) - 1);
    if (code == kEnd) break;
    if (code == kClear) {
      next = kFirst, width = 9, length = 0;
      continue;
    }
    // A new string: the one before, and the first byte of this one, which follows it in `out`.
    if (length > 0 && next < kCodes) strings[next++] = {before, length + 1};
    size_t wanted = 1;
    if (code < kClear) {
      out[done] = (uint8_t)code;
    } else {
      if (code >= next) break;
      wanted = strings[code].length;
      const size_t n = std::min(wanted, room - done);
      const uint8_t* source = out + strings[code].start;
      for (size_t i = 0; i < n; ++i) out[done + i] = source[i];  // the two may overlap
    }
    before = done, length = wanted;
    done += std::min(wanted, room - done);
    if (next >= (1u << width) - 1 && width < 12) ++width;  // one code early
  }
  return done;
}

template <class T>
void add_up(T* values, size_t h, size_t w, int channels) {
  const size_t stride = w * (size_t)channels;
  for (size_t y = 0; y < h; ++y, values += stride) {
    for (size_t x = (size_t)channels; x < stride; ++x) values[x] = (T)(values[x] + values[x - (size_t)channels]);
  }
}

template void add_up(uint8_t*, size_t, size_t, int);
template void add_up(uint16_t*, size_t, size_t, int);
template void add_up(uint32_t*, size_t, size_t, int);
template void add_up(uint64_t*, size_t, size_t, int);

long long parse_numbers(const uint8_t* text, size_t size, uint16_t* out, size_t room, unsigned largest) {
  const auto is_space = [](uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  size_t count = 0;
  for (size_t i = 0; i < size; ++count) {
    while (i < size && is_space(text[i])) ++i;
    if (i == size) break;
    unsigned value = 0;
    for (; i < size && !is_space(text[i]); ++i) {
      if (text[i] == '-') return -2;
      if (text[i] < '0' || text[i] > '9') return -1;
      value = std::min(10 * value + (text[i] - '0'), 1u << 20);
    }
    if (value > largest) return -2;
    if (count < room) out[count] = (uint16_t)value;
  }
  return (long long)count;
}

}  // namespace dualpix

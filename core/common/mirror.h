#pragma once

namespace dualpix {

// Symmetric padding: ... 1 0 | 0 1 2 ... n-1 | n-1 n-2 ..., for any i, also far outside.
inline int mirror(int i, int n) {
  const int period = 2 * n;
  i = ((i % period) + period) % period;
  return i < n ? i : period - 1 - i;
}

}  // namespace dualpix

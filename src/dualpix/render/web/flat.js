// What the flat view draws: at each pixel of the window one layer of the photo, and over it lines, stripes, a mask.
const Flat = (() => {
  const VERTEX = `
    void main() {  // one triangle that covers the window
      vec2 at = vec2(float((gl_VertexID << 1) & 2), float(gl_VertexID & 2));
      gl_Position = vec4(2.0 * at - 1.0, 0.0, 1.0);
    }`;

  const MAP = `
    const float HOLE = -1e29;
    float fetch(sampler2D map, ivec2 at, int lod) {
      return texelFetch(map, clamp(at, ivec2(0), textureSize(map, lod) - 1), lod).r;
    }
    // The disparity at a photo point: the pixel itself when it is large, else the mean of its surroundings.
    float disparity(sampler2D map, vec2 p, vec2 size, float scale) {
      if (scale >= 4.0) return fetch(map, ivec2(floor(p / size * vec2(textureSize(map, 0)))), 0);
      int lod = int(max(0.0, floor(-log2(scale) + 0.5)));
      lod = min(lod, int(log2(max(size.x, size.y))));
      vec2 q = p / size * vec2(textureSize(map, lod)) - 0.5, f = fract(q);
      ivec2 i = ivec2(floor(q));
      vec4 v = vec4(fetch(map, i, lod), fetch(map, i + ivec2(1, 0), lod),
                    fetch(map, i + ivec2(0, 1), lod), fetch(map, i + ivec2(1, 1), lod));
      vec4 w = vec4((1.0 - f.x) * (1.0 - f.y), f.x * (1.0 - f.y), (1.0 - f.x) * f.y, f.x * f.y);
      w *= vec4(greaterThan(v, vec4(HOLE)));
      float sum = w.x + w.y + w.z + w.w;
      return sum > 0.25 ? dot(v * vec4(greaterThan(v, vec4(HOLE))), w) / sum : 2.0 * HOLE;
    }`;

  // The program of one layer, with what lies over it and nothing else. Without a graphics card that is faster.
  const fragment = ({layer, iso, stripes, mask}) => `
    const int LAYER = ${layer};  // 0 photo, 1 refocused, 2 depth, 3 depth of the other run, 4 mask
    const bool ISO = ${iso}, STRIPES = ${stripes}, MASK = ${mask};
    uniform sampler2D photo, focused, map, other, confidence, ramp;
    uniform vec2 size, stage, centre;
    uniform float scale, ratio;
    uniform vec4 region;              // of the refocused part, px
    uniform vec2 range;
    uniform vec2 iso;                 // step; unit: 0 px, 1 m, 2 diopters
    uniform vec2 metric;              // inverse focus, inverse scale
    uniform vec3 mask;                // from, to, soft
    uniform vec4 outside;
    uniform vec3 levels;              // of the photo: what is shown black and white, and an exponent
    out vec4 colour;
    ${MAP}
    vec3 sampled(sampler2D picture, vec2 p) {
      if (scale >= 4.0) return texelFetch(picture, ivec2(floor(p / size * vec2(textureSize(picture, 0)))), 0).rgb;
      return texture(picture, p / size).rgb;
    }
    vec3 refocused(vec2 p) {
      vec2 uv = (p - region.xy) / region.zw;
      if (any(lessThan(uv, vec2(0.0))) || any(greaterThan(uv, vec2(1.0)))) return sampled(photo, p);
      return texture(focused, uv).rgb;
    }
    float inside(float d) {
      if (d < HOLE) return 0.0;
      float away = max(max(mask.x - d, d - mask.y), 0.0);
      return mask.z > 0.0 ? clamp(1.0 - away / mask.z, 0.0, 1.0) : float(away == 0.0);
    }
    vec3 painted(float d) {
      if (d < HOLE) return vec3(0.5);
      return texture(ramp, vec2((clamp((d - range.x) / (range.y - range.x), 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    }
    // 1 on a line of equal depth.
    float contour(float d) {
      float q = metric.x + d * metric.y;
      float u = (iso.y == 0.0 ? d : iso.y == 1.0 ? 1.0 / max(q, 1e-3) : q) / iso.x;
      float slope = fwidth(u);
      if (d < HOLE || slope > 0.6 || slope == 0.0) return 0.0;
      return 1.0 - smoothstep(0.4, 1.4, abs(fract(u - 0.5) - 0.5) / slope / max(1.0, ratio * 0.75));
    }
    void main() {
      vec2 at = vec2(gl_FragCoord.x, stage.y - gl_FragCoord.y), p = (at - stage / 2.0) / scale + centre;
      float d = 0.0;
      if (LAYER == 3) d = disparity(other, p, size, scale);
      else if (LAYER > 1 || ISO || MASK) d = disparity(map, p, size, scale);
      float lines = ISO ? contour(d) : 0.0;
      vec3 now;
      if (LAYER < 2) now = (LAYER == 0 ? sampled(photo, p) : refocused(p)) - levels.x;
      if (LAYER < 2) now = pow(clamp(now / (levels.y - levels.x), 0.0, 1.0), vec3(levels.z));
      else if (LAYER == 4) now = vec3(inside(d));
      else now = painted(d);
      if (MASK && LAYER != 4) {
        float grey = dot(now, vec3(0.21, 0.72, 0.07));
        now = mix(vec3(grey) * 0.28 + outside.rgb * 0.1, now, inside(d));
      }
      if (STRIPES) {
        float sure = texture(confidence, p / size).r;
        float band = smoothstep(0.2, 0.3, abs(fract((at.x + at.y) / (9.0 * ratio)) - 0.5));
        now = mix(now, vec3(0.05), band * 0.7 * (1.0 - sure) * (1.0 - sure));
      }
      float bright = dot(now, vec3(0.3, 0.6, 0.1));
      now = mix(now, vec3(bright > 0.55 ? 0.0 : 1.0), 0.7 * lines);
      bool out_of = any(lessThan(p, vec2(0.0))) || any(greaterThanEqual(p, size));
      colour = vec4(out_of ? outside.rgb : now, 1.0);
    }`;

  return {VERTEX, fragment};
})();

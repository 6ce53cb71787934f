// The programs of refocus.js. Row 0 of every texture is the top row of the picture.
const Shaders = (() => {
  const HEAD = `#version 300 es
    precision highp float; precision highp int; precision highp sampler2D; precision highp isampler2D;`;

  // A triangle that covers the target.
  const COVER = `${HEAD}
    void main() { gl_Position = vec4(vec2(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1), 0, 1); }`;

  // The photo in linear light, at the size of the work, from `corner` on.
  const LIGHT = `${HEAD}
    uniform sampler2D photo; uniform ivec2 corner, picture;
    out vec4 light;
    void main() {
      ivec2 at = ivec2(gl_FragCoord.xy) + corner;
      vec2 fold = vec2(textureSize(photo, 0)) / vec2(picture);
      light = fold == vec2(1) ? texelFetch(photo, at, 0)
                              : textureLod(photo, (vec2(at) + 0.5) / vec2(picture), log2(max(fold.x, fold.y)));
      light.a = 1.0;
    }`;

  // A source, as a square of pixels with the weights of its spot. See sources.js for its two numbers. If `merged`, the
  // source is a square of a coarser level, and its light is at its own place in `light`. If `single`, it is one pixel.
  const SPREAD = [`${HEAD}
    layout(location = 0) in uvec2 source;
    uniform sampler2D light; uniform isampler2D starts;
    uniform ivec2 origin, corner, picture, target, openings;
    uniform int level, each; uniform float share; uniform bool merged, single;
    flat out vec4 colour; flat out ivec2 centre; flat out ivec2 spot;
    const ivec2 STEPS[4] = ivec2[](ivec2(-1, 0), ivec2(1, 0), ivec2(0, -1), ivec2(0, 1));
    ivec2 mirror(ivec2 i) {
      i = i % (2 * picture);
      i += 2 * picture * ivec2(lessThan(i, ivec2(0)));
      return i + (2 * picture - 1 - 2 * i) * ivec2(greaterThanEqual(i, picture));
    }
    void main() {
      ivec2 place = ivec2(source.x & 0xffffu, source.x >> 16u);
      int code = int(source.y & 1023u) - 512, away = int(source.y >> 12u);
      ivec2 at = mirror(place + origin);
      ivec2 from = merged ? place : at - corner + away * STEPS[source.y >> 10u & 3u];
      colour = texelFetch(light, from, 0) * share;
      centre = place >> level;
      ivec2 opening = at * openings / picture;
      if (code < 0) opening = openings - 1 - opening;
      spot = single ? ivec2(0) : texelFetch(starts, ivec2(abs(code), 0), 0).rg;
      spot.x += (opening.y * openings.x + opening.x) * each;
      gl_PointSize = float(2 * spot.y + 1);
      gl_Position = vec4((vec2(centre) + 0.5) / vec2(target) * 2.0 - 1.0, 0, 1);
    }`, `${HEAD}
    uniform sampler2D spots;
    flat in vec4 colour; flat in ivec2 centre; flat in ivec2 spot;
    out vec4 light;
    void main() {
      ivec2 at = ivec2(gl_FragCoord.xy) - centre + spot.y;
      int side = 2 * spot.y + 1, i = spot.x + at.y * side + at.x;
      light = colour * texelFetch(spots, ivec2(i % WIDTH, i / WIDTH), 0).r;
    }`.replaceAll("WIDTH", Spots.WIDTH)];

  // The light of a slice at a pixel of the view, from its own level.
  const SLICE = `uniform sampler2D slice; uniform ivec2 size; uniform int level, pad;
    vec4 slice_at(ivec2 at) {
      at += pad;
      if (level == 0) return texelFetch(slice, at, 0);
      vec2 place = (vec2(at) + 0.5) / float(1 << level) - 0.5, share = fract(place);
      ivec2 low = max(ivec2(floor(place)), 0), high = min(low + 1, size - 1);
      return mix(mix(texelFetch(slice, low, 0), texelFetch(slice, ivec2(high.x, low.y), 0), share.x),
                 mix(texelFetch(slice, ivec2(low.x, high.y), 0), texelFetch(slice, high, 0), share.x), share.y);
    }`;

  // covered += cover of a slice
  const HIDE = `${HEAD} ${SLICE}
    out vec4 cover;
    void main() { cover = vec4(slice_at(ivec2(gl_FragCoord.xy)).a, 0, 0, 0); }`;

  // total += max(0, 1 - covered) slice; of a slice that is sharp, the cover only
  const LAY = `${HEAD} ${SLICE}
    uniform sampler2D covered; uniform bool sharp;
    out vec4 light;
    void main() {
      ivec2 at = ivec2(gl_FragCoord.xy);
      vec4 own = slice_at(at);
      light = max(1.0 - texelFetch(covered, at, 0).r, 0.0) * (sharp ? own.aaaa : own);
    }`;

  // From light / cover to sRGB, at the size `target`. What is sharp is taken from the photo itself, and so is a pixel
  // that no light reaches. `work` is the size of the sums.
  const DEVELOP = `${HEAD}
    uniform sampler2D total, sharp, photo; uniform ivec2 work, target, start, picture; uniform bool reduced;
    out vec4 colour;
    vec4 at(sampler2D sums, vec2 place) {
      vec2 share = fract(place);
      ivec2 low = max(ivec2(floor(place)), 0), high = min(ivec2(floor(place)) + 1, work - 1);
      return mix(mix(texelFetch(sums, low, 0), texelFetch(sums, ivec2(high.x, low.y), 0), share.x),
                 mix(texelFetch(sums, ivec2(low.x, high.y), 0), texelFetch(sums, high, 0), share.x), share.y);
    }
    void main() {
      vec2 fold = vec2(target) / vec2(work), place = gl_FragCoord.xy / fold;
      vec2 shrink = vec2(textureSize(photo, 0)) / (vec2(picture) * fold);
      vec3 own = textureLod(photo, (vec2(start) + place) / vec2(picture), log2(max(shrink.x, shrink.y))).rgb;
      vec4 sum = reduced ? at(total, place - 0.5) + at(sharp, place - 0.5).r * vec4(own, 1)
                         : texelFetch(total, ivec2(gl_FragCoord.xy), 0);
      vec3 v = clamp(sum.a > 1e-6 ? sum.rgb / sum.a : own, 0.0, 1.0);
      vec3 curve = 1.055 * pow(max(v, 1e-6), vec3(1.0 / 2.4)) - 0.055;
      colour = vec4(mix(curve, v * 12.92, vec3(lessThanEqual(v, vec3(0.0031308)))), 1);
    }`;

  return {light: [COVER, LIGHT], spread: SPREAD, hide: [COVER, HIDE], lay: [COVER, LAY], develop: [COVER, DEVELOP]};
})();

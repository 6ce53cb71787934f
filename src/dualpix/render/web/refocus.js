// Refocus in the browser: the method of core/render/refocus.cpp with WebGL2. A source is drawn as a point, and the
// blending adds up the light of a slice. Slices are laid behind each other, the nearest first.
//
//   const lens = Refocus(gl)
//   lens.setPhoto({width, height, rgba})         sRGB
//   lens.setMap({width, height, disparity})      px of the map, larger is nearer, no NaN; the size of the full photo
//   const seen = lens.render({focus, aperture, shape, x, y, width, height, scale, quality})
//
// Call render in every frame while lens.busy. `x y width height` are in pixels of the map, `scale` is output pixels for
// one of them, at most 1. "fast" is done in one call, with as many pixels as the time allows. "full" takes several
// calls, "whole" is the same in one. `seen` is the newest picture: {texture, width, height, view}. Its `view` says what
// it shows: focus, aperture, shape, quality and the region x, y, width, height. Row 0 of the texture is the top row.
// Only the framebuffer, blending and scissor of `gl` are restored. lens.progress of a full picture goes from 0 to 1.
// Options are for tests: `half` takes half floats, `pixels` is the work for the first fast picture.
const Refocus = (gl, options = {}) => {
  const RADIUS = 3 * Math.PI / 8;  // px of blur radius at 1 px of disparity and aperture 1
  const LARGEST = {fast: 4, full: 8};  // px of blur radius; larger spots are drawn at coarser levels
  const LARGEST_CODE = Spots.codeOf(LARGEST.full);
  const FAST = 33, SLICE_OF_TIME = 12;  // ms; one fast picture, one call of a full one
  const FIRST = 1e5, LEAST = 5e4;  // pixels of the work for the first fast picture; for any
  const LARGER = 2;                // a fast picture has up to this many times the width of its work
  const PART = 2e6;                // fragments of one draw
  const whole = gl.getExtension("EXT_color_buffer_float") && gl.getExtension("EXT_float_blend") && !options.half;
  if (!whole && !gl.getExtension("EXT_color_buffer_float") && !gl.getExtension("EXT_color_buffer_half_float"))
    throw new Error("This browser cannot draw into float textures, which refocusing needs.");
  const LIGHT = whole ? gl.RGBA32F : gl.RGBA16F, COVER = whole ? gl.R32F : gl.R16F;

  // ---- programs, textures, passes ------------------------------------------------------------------

  const programs = Object.fromEntries(Object.entries(Shaders).map(([name, sources]) => [name, link(sources)]));
  const textures = {};             // by name: {texture, framebuffer, width, height}; they only grow
  const empty = gl.createVertexArray(), points = [sourceBuffer(), sourceBuffer()];
  let photo = null, map = null, spots = null;

  function link(sources) {
    const program = gl.createProgram();
    for (const [i, text] of sources.entries()) {
      const shader = gl.createShader(i === 0 ? gl.VERTEX_SHADER : gl.FRAGMENT_SHADER);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
        throw new Error(gl.getShaderInfoLog(shader));
    }
    gl.linkProgram(program);
    const uniforms = {};
    for (let i = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) - 1; i >= 0; --i) {
      const {name, type} = gl.getActiveUniform(program, i);
      uniforms[name] = {place: gl.getUniformLocation(program, name), type};
    }
    return {program, uniforms};
  }

  function sourceBuffer() {
    const array = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribIPointer(0, 2, gl.UNSIGNED_INT, 8, 0);
    gl.bindVertexArray(null);
    return {array, buffer};
  }

  function fill({array, buffer}, list) {
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, list, gl.DYNAMIC_DRAW);
  }

  function newTexture(format, width, height, levels = 1, filter = gl.NEAREST) {
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, levels, format, width, height);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter === gl.NEAREST ? gl.NEAREST : gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    return texture;
  }

  // The texture of this name, with at least this size.
  function target(name, format, width, height, exact = false) {
    const old = textures[name];
    if (old && (exact ? old.width === width && old.height === height : old.width >= width && old.height >= height))
      return old;
    if (old) {
      if (!exact) [width, height] = [Math.max(width, old.width), Math.max(height, old.height)];
      gl.deleteTexture(old.texture);
      gl.deleteFramebuffer(old.framebuffer);
    }
    const texture = newTexture(format, width, height, 1, exact ? gl.LINEAR : gl.NEAREST);
    const framebuffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    return textures[name] = {texture, framebuffer, width, height};
  }

  // Uploads texels; the state that the viewer may have set is given back its default.
  function upload(texture, width, height, format, type, data) {
    for (const name of ["UNPACK_FLIP_Y_WEBGL", "UNPACK_PREMULTIPLY_ALPHA_WEBGL"]) gl.pixelStorei(gl[name], false);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, format, type, data);
  }

  // Chooses a program with its uniforms and a part of a target to draw into.
  function prepare(name, into, width, height, box, values, add) {
    const {program, uniforms} = programs[name];
    gl.useProgram(program);
    let unit = 0;
    for (const [key, {place, type}] of Object.entries(uniforms)) {
      const value = values[key];
      if (type === gl.SAMPLER_2D || type === gl.INT_SAMPLER_2D) {
        gl.activeTexture(gl.TEXTURE0 + unit);
        gl.bindTexture(gl.TEXTURE_2D, value);
        gl.uniform1i(place, unit++);
      } else if (type === gl.INT_VEC2) gl.uniform2i(place, ...value);
      else if (type === gl.FLOAT) gl.uniform1f(place, value);
      else gl.uniform1i(place, value);
    }
    gl.activeTexture(gl.TEXTURE0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, into.framebuffer);
    gl.viewport(0, 0, width, height);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(box.left, box.top, Math.max(box.right - box.left, 0), Math.max(box.bottom - box.top, 0));
    gl[add ? "enable" : "disable"](gl.BLEND);
    gl.blendEquation(gl.FUNC_ADD);
    gl.blendFunc(gl.ONE, gl.ONE);
    for (const test of [gl.DEPTH_TEST, gl.STENCIL_TEST, gl.CULL_FACE, gl.DITHER]) gl.disable(test);
    gl.colorMask(true, true, true, true);
  }

  function pass(name, into, width, height, box, values, add) {
    prepare(name, into, width, height, box, values, add);
    gl.bindVertexArray(empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  const all = (width, height) => ({left: 0, top: 0, right: width, bottom: height});
  const clear = () => gl.clearBufferfv(gl.COLOR, 0, [0, 0, 0, 0]);

  // ---- one picture ---------------------------------------------------------------------------------

  function spotsOf(shape) {
    const key = shape === "cat-eye" ? `${shape} ${map.width} ${map.height}` : shape;
    if (spots?.key === key) return spots;
    const table = Spots.table(shape, map.width, map.height, LARGEST_CODE), rows = table.weights.length / Spots.WIDTH;
    if (spots) for (const name of ["weights", "starts"]) gl.deleteTexture(spots[name]);
    const reach = Int32Array.from({length: Spots.MOST_CODE + 1}, (_, code) => Spots.reachOf(code, table.extent));
    spots = {...table, key, reach};
    spots.weights = newTexture(gl.R32F, Spots.WIDTH, rows);
    upload(spots.weights, Spots.WIDTH, rows, gl.RED, gl.FLOAT, table.weights);
    spots.sides = table.starts.filter((_, i) => i % 2).map(reach => 2 * reach + 1);
    spots.starts = newTexture(gl.RG32I, LARGEST_CODE + 1, 1);
    upload(spots.starts, LARGEST_CODE + 1, 1, gl.RG_INTEGER, gl.INT, table.starts);
    return spots;
  }

  // The pixels of the work: the whole picture, the view, and the part of the picture whose light may reach the view.
  function frameOf({x, y, width, height, focus, aperture, shape, quality}, scale) {
    const picture = {w: Math.max(Math.round(map.width * scale), 1), h: Math.max(Math.round(map.height * scale), 1)};
    const cut = (from, size, n, full) => {
      const begin = Math.min(Math.max(Math.floor(from * n / full), 0), n - 1);
      return [begin, Math.min(Math.max(Math.ceil((from + size) * n / full), begin + 1), n) - begin];
    };
    const [vx, vw] = cut(x, width, picture.w, map.width), [vy, vh] = cut(y, height, picture.h, map.height);
    const view = {x: vx, y: vy, w: vw, h: vh}, gain = RADIUS * aperture * picture.w / map.width;
    const most = Spots.codeOf(gain * Math.max(Math.abs(map.low - focus), Math.abs(map.high - focus)));
    const pad = spotsOf(shape).reach[most], part = {x: Math.max(vx - pad, 0), y: Math.max(vy - pad, 0)};
    part.w = Math.min(vx + vw + pad, picture.w) - part.x;
    part.h = Math.min(vy + vh + pad, picture.h) - part.y;
    return {picture, view, part, pad, gain, w: vw + 2 * pad, h: vh + 2 * pad, most: LARGEST[quality]};
  }

  // The level of a slice, and the codes there, by code + MOST_CODE. Squares (1/12), hats and interpolation (1/6 each)
  // blur, too: r'^2 / 4 + 1/12 + 1/6 + 1/6 = (r^2 / 4 + 1/6) / 4^level
  function levelOf({ranges}, most) {
    const largest = Math.max(...ranges.map(range => Spots.radiusOf(range.code)));
    const level = Math.max(Math.ceil(Math.log2(largest / most)), 0), codes = new Int16Array(2 * Spots.MOST_CODE + 1);
    for (const {code} of ranges) {
      const r = Math.sqrt((Spots.radiusOf(code) ** 2 + 2 / 3) / 4 ** level - 5 / 3);
      codes[code + Spots.MOST_CODE] = Math.sign(code) * Spots.codeOf(r);
    }
    return {level, codes};
  }

  // Draws the sources begin to end, in parts that do not take long. area(i) is the number of fragments of source i.
  // Yields that of a part.
  function* draw(buffer, begin, end, area, ready) {
    while (begin < end) {
      let to = begin, fragments = 0;
      while (to < end && fragments < PART) fragments += area(to++);
      ready();
      gl.bindVertexArray(buffer.array);
      gl.drawArrays(gl.POINTS, begin, to - begin);
      begin = to;
      yield fragments;
    }
  }

  // Draws the light of a slice. Yields the number of fragments drawn.
  function* spread(frame, light, list, slice, ring, stamps) {
    const {level, codes} = levelOf(slice, frame.most), fold = 2 ** level;
    const w = Math.ceil(frame.w / fold), h = Math.ceil(frame.h / fold);
    const begin = slice.ranges[0].begin, end = slice.ranges.at(-1).end;
    const cut = (at, n) => Math.min(Math.max(at, 0), n), margin = level ? 2 : 0;
    const box = {
      left: cut((slice.box.left >> level) - margin, w), right: cut((slice.box.right >> level) + margin + 1, w),
      top: cut((slice.box.top >> level) - margin, h), bottom: cut((slice.box.bottom >> level) + margin + 1, h),
    };
    const place = {
      origin: [frame.view.x - frame.pad, frame.view.y - frame.pad], corner: [frame.part.x, frame.part.y],
      picture: [frame.picture.w, frame.picture.h], target: [w, h], openings: [spots.columns, spots.rows],
      each: spots.each, spots: spots.weights, starts: spots.starts, light: light.texture,
    };
    const drawing = (into, values) => {
      prepare("spread", into, w, h, box, values, true);
      clear();
      return () => prepare("spread", into, w, h, box, values, true);
    };
    const area = sources => i => spots.sides[Math.abs((sources[2 * i + 1] & 1023) - 512)] ** 2;
    const into = target(`spread ${level} ${ring}`, LIGHT, w, h);
    const result = {number: slice.number, level, size: [w, h], slice: into.texture};
    if (level === 0) {
      const ready = drawing(into, {...place, level, share: 1, merged: false, single: false});
      yield* draw(points[0], begin, end, area(list), ready);
      return result;
    }
    const bins = target(`bins ${level}`, LIGHT, w, h);
    const single = drawing(bins, {...place, level, share: 1 / fold ** 2, merged: false, single: true});
    yield* draw(points[0], begin, end, () => 1, single);
    stamps[level] ??= new Int16Array(w * h);
    const merged = Sources.merge(list, begin, end, level, w, codes, stamps[level], slice.number + Spots.MOST_CODE);
    fill(points[1], merged);
    const ready = drawing(into, {...place, light: bins.texture, level: 0, share: 1, merged: true, single: false,
      origin: place.origin.map(at => Math.floor(at / fold)), picture: place.picture.map(n => Math.ceil(n / fold))});
    yield* draw(points[1], 0, merged.length / 2, area(merged), ready);
    return result;
  }

  // Draws a picture into the texture `name`. Yields the number of fragments drawn since the last yield. If `scale` is
  // less than the view asks for, the picture is larger than the work, and what is sharp is taken from the photo.
  function* paint(view, scale, name) {
    const frame = frameOf(view, scale), {part, pad, picture, view: {x, y, w, h}} = frame;
    const {list, slices} = yield* Sources.collect(map, frame, view.focus, frame.gain, spots.reach);
    const reduced = scale < view.scale, fold = Math.min(view.scale / scale, LARGER);
    const light = target("light", gl.RGBA16F, part.w, part.h), total = target("total", LIGHT, w, h);
    const covered = target("covered", COVER, w, h), sharp = target("sharp", COVER, w, h);
    const size = {picture: [picture.w, picture.h]};
    pass("light", light, part.w, part.h, all(part.w, part.h), {...size, photo, corner: [part.x, part.y]}, false);
    for (const each of [total, covered, sharp]) {
      prepare("hide", each, w, h, all(w, h), {slice: null, size: [1, 1], level: 0, pad}, false);
      clear();
    }
    fill(points[0], list);
    const stamps = [], sources = list.length / 2;
    let waiting = [], ring = 0;
    for (const slice of slices) {
      const box = {left: Math.max(slice.box.left - pad, 0), right: Math.min(slice.box.right - pad, w),
                   top: Math.max(slice.box.top - pad, 0), bottom: Math.min(slice.box.bottom - pad, h)};
      for (const front of waiting.filter(each => each.number - slice.number >= Sources.HIDING))
        pass("hide", covered, w, h, front.box, {...front, pad}, true);
      waiting = waiting.filter(each => each.number - slice.number < Sources.HIDING);
      const drawn = yield* spread(frame, light, list, slice, ring, stamps);
      const isSharp = reduced && Math.abs(slice.number) < Sources.HIDING;
      pass("lay", isSharp ? sharp : total, w, h, box, {...drawn, pad, covered: covered.texture, sharp: isSharp}, true);
      waiting.push({...drawn, box});
      ring = 1 - ring;
      done = slice.ranges.at(-1).end / sources;
      yield 2 * Math.max(box.right - box.left, 0) * Math.max(box.bottom - box.top, 0);
    }
    const width = Math.round(w * fold), height = Math.round(h * fold);
    const out = target(name, gl.RGBA8, width, height, true);
    pass("develop", out, width, height, all(width, height), {...size, photo, total: total.texture,
      sharp: sharp.texture, work: [w, h], target: [width, height], start: [x, y], reduced}, false);
    const unit = map.width / picture.w, rise = map.height / picture.h;
    return {texture: out.texture, width, height,
            view: {...view, x: x * unit, y: y * rise, width: w * unit, height: h * rise}};
  }

  // ---- in parts, as time allows --------------------------------------------------------------------

  let job = null, shown = null, pending = null;  // what is being drawn; the newest picture; what the GPU works on
  let pixels = options.pixels ?? FIRST;          // work for a fast picture
  let batch = 2 * PART;                          // fragments for one call of a full one
  let done = 0, fragments = 0;                   // share of the full picture; fragments of the newest picture

  // Remembers that the GPU is at work since `start`. `then` gets the ms that it took.
  function wait(start, then) {
    const sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0), mine = pending = {};
    gl.flush();
    const poll = () => {
      if (pending !== mine) return gl.deleteSync(sync);
      if (!gl.isContextLost() && gl.getSyncParameter(sync, gl.SYNC_STATUS) !== gl.SIGNALED) return setTimeout(poll, 1);
      pending = null;
      gl.deleteSync(sync);
      then(performance.now() - start);
    };
    setTimeout(poll, 0);
  }

  function rest() {
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.bindVertexArray(null);
    gl.disable(gl.BLEND);
    gl.disable(gl.SCISSOR_TEST);
  }

  function run(steps, until, most) {
    for (let drawn = 0; performance.now() <= until && drawn <= most;) {
      const {value, done: ended} = steps.next();
      if (ended) return value;
      drawn += value;
      fragments += value;
    }
    return null;
  }

  function fast(view) {
    const start = performance.now(), asked = view.width * view.height * view.scale ** 2;
    const scale = view.scale * Math.min(Math.sqrt(pixels / asked), 1);
    fragments = 0;
    shown = {...run(paint(view, scale, "fast"), Infinity, Infinity), key: null};
    done = 0;
    wait(start, ms => {
      const drawn = Math.min(pixels, asked), next = drawn * Math.min(Math.max(Math.sqrt(FAST / ms), 0.3), 1.5);
      pixels = Math.max(next, next > drawn ? pixels : LEAST);
    });
  }

  function full(view, key, whole) {
    const start = performance.now();
    if (job?.key !== key) [job, done, fragments] = [{key, steps: paint(view, view.scale, "full")}, 0, 0];
    const ready = run(job.steps, whole ? Infinity : start + SLICE_OF_TIME, whole ? Infinity : batch);
    if (ready) [shown, job, done] = [{...ready, key}, null, 1];
    wait(start, ms => { if (!whole) batch = Math.max(batch * (ms < FAST / 2 ? 1.5 : ms > FAST ? 0.6 : 1), PART); });
  }

  function render({quality = "full", ...view}) {
    if (!photo || !map) return null;
    view.scale = Math.min(view.scale ?? 1, 1);
    const key = JSON.stringify(view);
    if (quality === "fast") job = null;
    if (shown?.key === key && quality !== "fast") return shown;
    if (pending && quality !== "whole") return shown;
    if (quality === "fast" || (quality === "full" && !shown)) fast({...view, quality: "fast"});
    else full({...view, quality: "full"}, key, quality === "whole");
    rest();
    return shown;
  }

  // ---- what is given -------------------------------------------------------------------------------

  function restart() {
    [job, shown, pending, done] = [null, null, null, 0];
  }

  function setPhoto({width, height, rgba}) {
    if (photo) gl.deleteTexture(photo);
    const levels = Math.floor(Math.log2(Math.max(width, height))) + 1;
    photo = newTexture(gl.SRGB8_ALPHA8, width, height, levels, gl.LINEAR_MIPMAP_LINEAR);
    upload(photo, width, height, gl.RGBA, gl.UNSIGNED_BYTE, rgba);
    gl.generateMipmap(gl.TEXTURE_2D);
    restart();
  }

  function setMap({width, height, disparity}) {
    let low = Infinity, high = -Infinity;
    for (const d of disparity) {
      if (d < low) low = d;
      if (d > high) high = d;
    }
    map = {width, height, disparity, low, high};
    restart();
  }

  return {
    setPhoto, setMap, render,
    get busy() { return job !== null || pending !== null; },
    get progress() { return done; },
    get fragments() { return fragments; },
  };
};

// Draws the flat view with WebGL2: photo, refocused photo, depth, mask, and a line between two of them.
function Viewer(canvas) {
  const gl = canvas.getContext("webgl2",
    {antialias: false, alpha: false, depth: true, powerPreference: "high-performance"});
  if (!gl) return null;
  const LAYERS = {photo: 0, focus: 1, depth: 2, other: 3, mask: 4};
  const programs = {};  // by what they draw; made when first needed
  const none = {photo: Gl.picture(gl, 1, 1, new Uint8Array([128, 128, 128, 255]), 4),
                map: Gl.map(gl, {width: 1, height: 1, values: new Float32Array([NaN])}),
                confidence: Gl.picture(gl, 1, 1, new Uint8Array([255]), 1)};
  const textures = {...none, other: none.map};
  const ramps = Object.fromEntries(Colours.kinds.map(([kind]) => [kind, Gl.ramp(gl, Colours.ramp(kind))]));
  const empty = gl.createVertexArray(), most = gl.getParameter(gl.MAX_TEXTURE_SIZE);

  function replace(name, made, nothing) {
    if (textures[name] !== nothing) gl.deleteTexture(textures[name]);
    textures[name] = made;
  }
  const setter = (name, nothing, build) => given => replace(name, given ? build(given) : nothing, nothing);

  function begin() {
    const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width * ratio)), height = Math.max(1, Math.round(box.height * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    for (const name of ["BLEND", "SCISSOR_TEST", "CULL_FACE", "STENCIL_TEST", "DEPTH_TEST"]) gl.disable(gl[name]);
    gl.colorMask(true, true, true, true);
    gl.bindVertexArray(empty);
    return ratio;
  }

  // view: of View(). look: {left, right, line (CSS px), kind, range, iso, isoUnit, metric, stripes, mask, outside,
  // levels, focused: {texture, x, y, width, height} or null}
  function draw(view, look) {
    const ratio = begin(), {metric, focused} = look;
    if (textures.photo === none.photo) {
      gl.clearColor(...look.outside, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      return;
    }
    const values = {
      photo: textures.photo, focused: focused ? focused.texture : textures.photo, map: textures.map,
      other: textures.other, confidence: textures.confidence, ramp: ramps[look.kind],
      size: [view.width, view.height], stage: [canvas.width, canvas.height], centre: [view.x, view.y],
      scale: view.scale * ratio, ratio,
      region: focused ? [focused.x, focused.y, focused.width, focused.height] : [0, 0, view.width, view.height],
      range: look.range, iso: [look.iso || 1, ["px", "m", "dpt"].indexOf(look.isoUnit)],
      metric: metric ? [metric.inverse_focus, metric.inverse_scale] : [0, 1],
      mask: look.mask ? [look.mask.from, look.mask.to, look.mask.soft] : [0, 0, 0],
      outside: [...look.outside, 1], levels: look.levels,
    };
    const line = look.line === null ? 0 : Math.min(canvas.width, Math.max(0, Math.round(look.line * ratio)));
    side(0, line, look.left, look, values);
    side(line, canvas.width, look.right, look, values);
  }

  // One layer, from column `from` up to `to` of the canvas.
  function side(from, to, layer, look, values) {
    if (from >= to) return;
    const what = {layer: LAYERS[layer], iso: look.iso > 0, stripes: Boolean(look.stripes), mask: Boolean(look.mask)};
    const program = programs[JSON.stringify(what)] ??= Gl.program(gl, Flat.VERTEX, Flat.fragment(what));
    program.set(values);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(from, 0, to - from, canvas.height);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.disable(gl.SCISSOR_TEST);
  }

  return {
    gl, textures, begin, draw,
    most,
    setPhoto: setter("photo", none.photo, ({width, height, values}) => Gl.picture(gl, width, height, values, 4)),
    setMap: setter("map", none.map, map => Gl.map(gl, map, most)),
    setOther: setter("other", none.map, map => Gl.map(gl, map, most)),
    setConfidence: setter("confidence", none.confidence,
      ({width, height, values}) => Gl.picture(gl, width, height, values, 1)),
  };
}

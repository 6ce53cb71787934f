// Few words for WebGL2: programs and textures.
const Gl = (() => {
  function shader(gl, kind, source) {
    const made = gl.createShader(kind);
    gl.shaderSource(made, `#version 300 es\nprecision highp float;\nprecision highp sampler2D;\n${source}`);
    gl.compileShader(made);
    if (!gl.getShaderParameter(made, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(made) || "shader");
    return made;
  }

  // A program and `set`, which sets uniforms by name: numbers, arrays, or [texture unit, texture].
  function program(gl, vertex, fragment) {
    const made = gl.createProgram(), places = {}, kinds = {};
    gl.attachShader(made, shader(gl, gl.VERTEX_SHADER, vertex));
    gl.attachShader(made, shader(gl, gl.FRAGMENT_SHADER, fragment));
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) || "program");
    for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
      const {name, type} = gl.getActiveUniform(made, i);
      places[name] = gl.getUniformLocation(made, name);
      kinds[name] = type;
    }
    const setters = {
      [gl.FLOAT]: "uniform1f", [gl.INT]: "uniform1i", [gl.BOOL]: "uniform1i",
      [gl.FLOAT_VEC2]: "uniform2fv", [gl.FLOAT_VEC3]: "uniform3fv", [gl.FLOAT_VEC4]: "uniform4fv",
    };
    function set(values) {
      gl.useProgram(made);
      let unit = 0;
      for (const [name, value] of Object.entries(values)) {
        if (!(name in places)) continue;
        if (kinds[name] === gl.SAMPLER_2D) {
          gl.activeTexture(gl.TEXTURE0 + unit);
          gl.bindTexture(gl.TEXTURE_2D, value);
          gl.uniform1i(places[name], unit++);
        } else if (kinds[name] === gl.FLOAT_MAT4) gl.uniformMatrix4fv(places[name], false, value);
        else gl[setters[kinds[name]]](places[name], value);
      }
    }
    return {set};
  }

  function texture(gl, min, mag) {
    const made = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, made);
    for (const [name, value] of [["MIN_FILTER", min], ["MAG_FILTER", mag],
                                 ["WRAP_S", "CLAMP_TO_EDGE"], ["WRAP_T", "CLAMP_TO_EDGE"]])
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], gl[value]);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, null);
    return made;
  }

  // 8-bit pixels with their smaller copies.
  function picture(gl, width, height, values, channels) {
    const made = texture(gl, "LINEAR_MIPMAP_LINEAR", "LINEAR");
    const [inside, format] = channels === 4 ? [gl.RGBA8, gl.RGBA] : [gl.R8, gl.RED];
    gl.texImage2D(gl.TEXTURE_2D, 0, inside, width, height, 0, format, gl.UNSIGNED_BYTE, values);
    gl.generateMipmap(gl.TEXTURE_2D);
    return made;
  }

  // A map as 32-bit numbers; its smaller copies know of holes. It has at most `most` pixels a side.
  function map(gl, given, most = Infinity) {
    const made = texture(gl, "NEAREST_MIPMAP_NEAREST", "NEAREST");
    let level = Maps.marked(given);
    while (Math.max(level.width, level.height) > most) level = Maps.halved(level);
    for (let k = 0; ; k++) {
      gl.texImage2D(gl.TEXTURE_2D, k, gl.R32F, level.width, level.height, 0, gl.RED, gl.FLOAT, level.values);
      if (level.width === 1 && level.height === 1) return made;
      level = Maps.halved(level);
    }
  }

  function ramp(gl, values) {
    const made = texture(gl, "LINEAR", "LINEAR");
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, values);
    return made;
  }

  return {program, picture, map, ramp};
})();

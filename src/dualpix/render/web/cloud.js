// The photo as points in space, seen from where the mouse turns it. q = 1/z = q0 + d q1 is the inverse distance.
function Cloud(viewer) {
  const {gl} = viewer, MOST = 400000, ANGLE = Math.PI / 4;  // points; angle of view of the longer side
  const program = () => Gl.program(gl, `
    uniform sampler2D photo, map;
    uniform vec2 size, q, limits, window;
    uniform float step, focal;
    uniform mat4 turn;
    uniform int columns;
    out vec3 tint;
    float disparity(vec2 p) {
      ivec2 most = textureSize(map, 0) - 1;
      return texelFetch(map, min(ivec2(p / size * vec2(most + 1)), most), 0).r;
    }
    vec4 place(vec2 p, float d) {
      float z = 1.0 / clamp(q.x + d * q.y, limits.x, limits.y);
      vec2 side = (p - size / 2.0) / focal * z;
      return turn * vec4(side.x, -side.y, -z, 1.0);
    }
    // How far the next point is on the screen, px. Beyond a depth edge it is as far as on a flat surface.
    float gap(vec2 p, float d, vec2 by) {
      vec4 flat_ = place(p + by, d), next = place(p + by, disparity(p + by));
      vec2 here = gl_Position.xy / gl_Position.w;
      float least = length((flat_.xy / flat_.w - here) * window / 2.0);
      float found = length((next.xy / next.w - here) * window / 2.0);
      return found < 6.0 * least ? found : least;
    }
    void main() {
      vec2 p = (vec2(float(gl_VertexID % columns), float(gl_VertexID / columns)) + 0.5) * step;
      float d = disparity(p);
      gl_Position = place(p, d);
      gl_PointSize = clamp(1.3 * max(gap(p, d, vec2(step, 0.0)), gap(p, d, vec2(0.0, step))), 1.0, 64.0);
      tint = textureLod(photo, p / size, log2(max(step, 1.0))).rgb;
      if (d < -1e29) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    }`, `
    uniform vec3 levels;
    in vec3 tint;
    out vec4 colour;
    void main() {
      colour = vec4(pow(clamp((tint - levels.x) / (levels.y - levels.x), 0.0, 1.0), vec3(levels.z)), 1.0);
    }`);
  let points = null;  // made when it is first needed
  const FIRST = {yaw: 0.24, pitch: 0.1, near: 0.88, x: 0, y: 0};  // radians; 1 fits the window; shares of the distance
  const cloud = {...FIRST};

  cloud.reset = () => Object.assign(cloud, FIRST);
  cloud.orbit = (dx, dy) => {
    cloud.yaw = Math.max(-1.5, Math.min(1.5, cloud.yaw + dx * 0.006));
    cloud.pitch = Math.max(-1.5, Math.min(1.5, cloud.pitch + dy * 0.006));
  };
  cloud.shift = (dx, dy) => { cloud.x += dx * 0.002 / cloud.near; cloud.y -= dy * 0.002 / cloud.near; };
  cloud.zoom = factor => { cloud.near = Math.max(0.3, Math.min(12, cloud.near * factor)); };

  // Inverse distances of the map: in metres if they are known, else far is 1.6 times as far as near.
  function distances(range, metric) {
    let q = metric ? [metric.inverse_focus, metric.inverse_scale]
                   : [0.625 - 0.375 * range[0] / (range[1] - range[0]), 0.375 / (range[1] - range[0])];
    const near = Math.max(q[0] + range[1] * q[1], 1e-3);
    const far = Math.max(q[0] + range[0] * q[1], near / 6), margin = 0.15 * (near - far);
    return {q, limits: [Math.max(far - margin, near / 7), near + margin], middle: 2 / (near + far)};
  }

  // The matrix: turn about the middle of the scene, step back, and project. Columns first.
  function matrix(middle, focal, view) {
    const [a, b] = [Math.cos(cloud.yaw), Math.sin(cloud.yaw)], [c, s] = [Math.cos(cloud.pitch), Math.sin(cloud.pitch)];
    const away = middle / cloud.near, long = Math.max(view.width, view.height);
    const fit = Math.min(view.stage.width / view.width, view.stage.height / view.height) * long;
    const fx = 2 * focal / long * fit / view.stage.width, fy = 2 * focal / long * fit / view.stage.height;
    const near = away * 0.02, far = away * 40, k = (far + near) / (near - far), l = 2 * far * near / (near - far);
    // rows of the turn: x' = a x + b z', then pitch
    const rows = [[a, 0, b], [s * b, c, -s * a], [-c * b, s, c * a]];
    const place = [0, 1, 2].map(i => rows[i][2] * middle + [cloud.x * middle, cloud.y * middle, -away][i]);
    const eye = rows.map((row, i) => [...row, place[i]]);
    const out = [eye[0].map(v => fx * v), eye[1].map(v => fy * v),
                 eye[2].map((v, i) => k * v + (i === 3 ? l : 0)), eye[2].map(v => -v)];
    return new Float32Array([0, 1, 2, 3].flatMap(column => out.map(row => row[column])));
  }

  cloud.draw = (view, look) => {
    const ratio = viewer.begin(), {q, limits, middle} = distances(look.range, look.metric);
    const step = Math.max(1, Math.sqrt(view.width * view.height / MOST));
    const columns = Math.max(1, Math.floor(view.width / step)), rows = Math.max(1, Math.floor(view.height / step));
    const focal = Math.max(view.width, view.height) / 2 / Math.tan(ANGLE / 2);
    gl.clearColor(...look.outside, 1);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LESS);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    points ??= program();
    points.set({
      photo: viewer.textures.photo, map: viewer.textures.map, size: [view.width, view.height], q, limits, step, focal,
      levels: look.levels, window: [view.stage.width * ratio, view.stage.height * ratio], columns,
      turn: matrix(middle, focal, view),
    });
    gl.drawArrays(gl.POINTS, 0, columns * rows);
    gl.disable(gl.DEPTH_TEST);
  };
  return cloud;
}

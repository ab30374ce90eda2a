#include "solid_raster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_set>

#include <fmt/format.h>

#include "aerogel/error.h"

namespace aerogel::cli {

namespace {

using Vec3 = std::array<double, 3>;

constexpr double kLeastSide = 3.2;  // of a cell: smaller ones would tear
constexpr double kEdgedSide = 18;   // of a cell from which on its edges are drawn
constexpr float kFar = std::numeric_limits<float>::infinity();

double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vec3 scaled(const Vec3& a, double by) { return {a[0] * by, a[1] * by, a[2] * by}; }
Vec3 sum(const Vec3& a, const Vec3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vec3 normalised(const Vec3& a) { return scaled(a, 1 / std::sqrt(dot(a, a))); }

/// Up, and the direction that the front looks into.
struct Axes {
  Vec3 up;
  Vec3 front;
};

Axes axes_of(Up up) {
  switch (up) {
    case Up::kX:
      return {{1, 0, 0}, {0, 0, 1}};
    case Up::kY:
      return {{0, 1, 0}, {0, 0, 1}};  // glTF 2.0, 3.4: +Y up, the front of an asset faces +Z
    case Up::kMinusX:
      return {{-1, 0, 0}, {0, 0, -1}};
    case Up::kMinusY:
      return {{0, -1, 0}, {0, 0, -1}};  // a camera's frame looks along +z
    case Up::kMinusZ:
      return {{0, 0, -1}, {0, -1, 0}};
    default:
      return {{0, 0, 1}, {0, -1, 0}};
  }
}

struct Camera {
  Vec3 eye{};
  Vec3 right{};
  Vec3 up{};
  Vec3 forward{};

  Camera(const Viewpoint& view, const Vec3& centre, double radius) {
    const Axes axes = axes_of(view.up);
    const double azimuth = view.azimuth * std::numbers::pi / 180;
    const double elevation = view.elevation * std::numbers::pi / 180;
    const Vec3 side = cross(axes.up, axes.front);
    const Vec3 level = sum(scaled(axes.front, std::cos(azimuth)), scaled(side, std::sin(azimuth)));
    const Vec3 back = sum(scaled(level, std::cos(elevation)), scaled(axes.up, std::sin(elevation)));
    eye = sum(centre, scaled(back, view.distance * radius));
    forward = scaled(back, -1);
    right = normalised(cross(forward, axes.up));
    up = cross(right, forward);
  }

  /// Right and up of the centre by one unit of depth, and the depth.
  Vec3 project(const Vec3& point) const {
    const Vec3 from = sum(point, scaled(eye, -1));
    const double depth = dot(from, forward);
    return {dot(from, right) / depth, dot(from, up) / depth, depth};
  }
};

/// The eight corners of a box by bits x, y, z, and the four of a face in turn.
constexpr int kFaces[6][4] = {{0, 2, 6, 4}, {1, 3, 7, 5}, {0, 1, 5, 4},
                              {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 5, 7, 6}};

Vec3 corner_of(const Vec3& centre, const Vec3& half, int corner) {
  Vec3 at = centre;
  for (std::size_t axis = 0; axis < 3; ++axis)
    at[axis] += (corner >> axis & 1) != 0 ? half[axis] : -half[axis];
  return at;
}

/// What stands where, by a cell's place in the box of all cells.
class Occupied {
 public:
  explicit Occupied(const std::vector<SolidCell>& cells) {
    lo_ = {cells[0].x, cells[0].y, cells[0].z};
    hi_ = lo_;
    for (const SolidCell& cell : cells) {
      const std::array<std::int64_t, 3> at = {cell.x, cell.y, cell.z};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        lo_[axis] = std::min(lo_[axis], at[axis]);
        hi_[axis] = std::max(hi_[axis], at[axis]);
      }
    }
    places_.reserve(cells.size());
    for (const SolidCell& cell : cells) places_.insert(key(cell.x, cell.y, cell.z));
  }

  const std::array<std::int64_t, 3>& lo() const { return lo_; }
  const std::array<std::int64_t, 3>& hi() const { return hi_; }
  /// Whether the neighbour through `face` is there.
  bool behind(const SolidCell& cell, int face) const {
    std::array<std::int64_t, 3> at = {cell.x, cell.y, cell.z};
    at[static_cast<std::size_t>(face / 2)] += face % 2 == 0 ? -1 : 1;
    return places_.count(key(at[0], at[1], at[2])) != 0;
  }

 private:
  /// Unique within the box and one cell around it, whose sides stay below 2^21 in any set that fits memory
  /// as a picture; beyond, a face may be left out.
  std::uint64_t key(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return static_cast<std::uint64_t>(x - lo_[0] + 1) | static_cast<std::uint64_t>(y - lo_[1] + 1) << 21 |
           static_cast<std::uint64_t>(z - lo_[2] + 1) << 42;
  }

  std::array<std::int64_t, 3> lo_{};
  std::array<std::int64_t, 3> hi_{};
  std::unordered_set<std::uint64_t> places_;
};

struct Sample {
  double x;
  double y;
  double depth;
};

double edge(const Sample& a, const Sample& b, double x, double y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

/// Fills a convex quadrilateral of one plane: 1 / depth is linear over the picture.
void fill_face(Raster& raster, const Sample (&corners)[4], std::int64_t cell, int face, double edge_width) {
  double lo_x = corners[0].x, hi_x = lo_x, lo_y = corners[0].y, hi_y = lo_y;
  for (const Sample& corner : corners) {
    lo_x = std::min(lo_x, corner.x);
    hi_x = std::max(hi_x, corner.x);
    lo_y = std::min(lo_y, corner.y);
    hi_y = std::max(hi_y, corner.y);
  }
  const double area = edge(corners[0], corners[1], corners[2].x, corners[2].y);
  if (!(std::abs(area) > 1e-12)) return;  // seen from the side; false for NaN
  const double turn = area > 0 ? 1 : -1;
  double length[4];
  for (int i = 0; i < 4; ++i) {
    const Sample& a = corners[i];
    const Sample& b = corners[(i + 1) % 4];
    length[i] = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
  }
  const double w0 = 1 / corners[0].depth, w1 = 1 / corners[1].depth, w2 = 1 / corners[2].depth;
  const int x0 = std::max(static_cast<int>(std::ceil(lo_x - 0.5)), 0);
  const int y0 = std::max(static_cast<int>(std::ceil(lo_y - 0.5)), 0);
  const int x1 = std::min(static_cast<int>(std::floor(hi_x - 0.5)), raster.width - 1);
  const int y1 = std::min(static_cast<int>(std::floor(hi_y - 0.5)), raster.height - 1);
  for (int y = y0; y <= y1; ++y) {
    for (int x = x0; x <= x1; ++x) {
      const double px = x + 0.5, py = y + 0.5;
      double nearest = std::numeric_limits<double>::infinity();  // to an edge, in samples
      for (int i = 0; i < 4; ++i)
        nearest = std::min(nearest, turn * edge(corners[i], corners[(i + 1) % 4], px, py) / length[i]);
      if (nearest < 0) continue;
      const double b1 = edge(corners[2], corners[0], px, py) / area;
      const double b2 = edge(corners[0], corners[1], px, py) / area;
      const auto depth = static_cast<float>(1 / (w0 * (1 - b1 - b2) + w1 * b1 + w2 * b2));
      const std::size_t at = static_cast<std::size_t>(y) * raster.width + x;
      if (!(depth < raster.depth[at])) continue;
      raster.depth[at] = depth;
      raster.cell[at] = cell;
      raster.face[at] = static_cast<std::uint8_t>(face | (nearest < edge_width ? Raster::kEdge : 0));
    }
  }
}

}  // namespace

Up parse_up(const std::string& text) {
  constexpr const char* kNames[] = {"x", "y", "z", "-x", "-y", "-z"};
  for (int i = 0; i < 6; ++i) {
    if (text == kNames[i]) return static_cast<Up>(i);
  }
  throw InvalidArgument(fmt::format("--up {}: expected x, y, z, -x, -y or -z", text));
}

void Raster::clear() {
  const std::size_t count = static_cast<std::size_t>(width) * height;
  depth.assign(count, kFar);
  cell.assign(count, -1);
  face.assign(count, 0);
}

Raster rasterise(const std::vector<SolidCell>& cells, const std::array<double, 3>& size,
                 const Viewpoint& viewpoint, int long_side) {
  Raster raster;
  if (cells.empty()) {
    raster.width = raster.height = 1;
    raster.clear();
    return raster;
  }
  const Occupied occupied(cells);
  Vec3 centre{};
  Vec3 half{};
  double radius = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto lo = static_cast<double>(occupied.lo()[axis]);
    const auto hi = static_cast<double>(occupied.hi()[axis]);
    centre[axis] = (lo + hi + 1) / 2 * size[axis];
    half[axis] = size[axis] / 2;
    radius = std::max(radius, (hi - lo + 1) / 2 * size[axis]);
  }
  const Camera camera(viewpoint, centre, radius * std::numbers::sqrt3);
  const auto middle = [&](const SolidCell& cell) {
    return Vec3{(static_cast<double>(cell.x) + 0.5) * size[0], (static_cast<double>(cell.y) + 0.5) * size[1],
                (static_cast<double>(cell.z) + 0.5) * size[2]};
  };

  // The window that the boxes cover, at depth 1.
  double lo_u = kFar, hi_u = -kFar, lo_v = kFar, hi_v = -kFar;
  for (const SolidCell& cell : cells) {
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 at = camera.project(corner_of(middle(cell), half, corner));
      lo_u = std::min(lo_u, at[0]);
      hi_u = std::max(hi_u, at[0]);
      lo_v = std::min(lo_v, at[1]);
      hi_v = std::max(hi_v, at[1]);
    }
  }
  const double zoom = long_side / std::max(hi_u - lo_u, hi_v - lo_v);
  const auto pixels = [&](double extent) { return std::max(static_cast<int>(std::ceil(extent * zoom)), 1); };
  raster.width = pixels(hi_u - lo_u);
  raster.height = pixels(hi_v - lo_v);
  raster.unit_pixels = zoom / camera.project(centre)[2];

  const double side = *std::min_element(size.begin(), size.end()) * raster.unit_pixels;
  const double grown = std::max(1.0, kLeastSide / side);
  const double edge_width = side >= kEdgedSide ? std::min(0.05 * side, 2.0) : 0;
  raster.clear();
  for (std::size_t face = 0; face < 6; ++face) {
    Vec3 out{};
    out[face / 2] = face % 2 == 0 ? -1 : 1;
    raster.normal[face] = {dot(out, camera.right), dot(out, camera.up), -dot(out, camera.forward)};
  }
  std::vector<std::int64_t> order(cells.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const SolidCell& p = cells[static_cast<std::size_t>(a)];
    const SolidCell& q = cells[static_cast<std::size_t>(b)];
    return std::array{p.z, p.y, p.x} < std::array{q.z, q.y, q.x};
  });
  for (const std::int64_t i : order) {
    const SolidCell& cell = cells[static_cast<std::size_t>(i)];
    const Vec3 at = middle(cell);
    for (int face = 0; face < 6; ++face) {
      const auto axis = static_cast<std::size_t>(face / 2);
      const double beyond = camera.eye[axis] - at[axis];
      const bool faces_eye = face % 2 == 0 ? beyond < -half[axis] : beyond > half[axis];
      if (!faces_eye || (grown == 1.0 && occupied.behind(cell, face))) continue;
      Sample corners[4];
      for (int c = 0; c < 4; ++c) {
        const Vec3 p = camera.project(corner_of(at, scaled(half, grown), kFaces[face][c]));
        corners[c] = {(p[0] - lo_u) * zoom, (hi_v - p[1]) * zoom, p[2]};
      }
      fill_face(raster, corners, i, face, edge_width);
    }
  }
  return raster;
}

}  // namespace aerogel::cli

// Whether a triangle meets a closed box, by the separating-axis theorem: 3 axes of the box, the triangle's
// normal, and 9 products of their edges. Triangles without area are the segments or points that they are.
//   source   Akenine-Möller, "Fast 3D Triangle-Box Overlap Testing", 2001
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace aerogel {

using Vec3d = std::array<double, 3>;

inline Vec3d operator-(const Vec3d& a, const Vec3d& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline double dot(const Vec3d& a, const Vec3d& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vec3d cross(const Vec3d& a, const Vec3d& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double largest(const Vec3d& a) { return std::max({std::abs(a[0]), std::abs(a[1]), std::abs(a[2])}); }

/// A triangle with what does not depend on the box.
struct Triangle {
  explicit Triangle(const std::array<Vec3d, 3>& points)
      : corners(points),
        edges{points[1] - points[0], points[2] - points[1], points[0] - points[2]},
        normal(cross(edges[0], edges[1])),
        longest(std::max({largest(edges[0]), largest(edges[1]), largest(edges[2])})) {}

  std::array<Vec3d, 3> corners;
  std::array<Vec3d, 3> edges;
  Vec3d normal;
  double longest;  ///< the largest component of an edge
};

enum class Rounding : bool {
  kNearest,   ///< as the numbers come out
  kIncluded,  ///< never a no where a box inside this one has a kNearest yes
};

/// The box has this centre and these half extents.
inline bool overlaps(const Triangle& triangle, const Vec3d& centre, const Vec3d& half, Rounding rounding) {
  const std::array<Vec3d, 3> v = {triangle.corners[0] - centre, triangle.corners[1] - centre,
                                  triangle.corners[2] - centre};
  // Some rounding errors of each product below; far above what a few operations lose.
  double slack = 0;
  if (rounding == Rounding::kIncluded) {
    const double reach = std::max({largest(v[0]), largest(v[1]), largest(v[2])}) + largest(half);
    slack = 64 * std::numeric_limits<double>::epsilon() * reach;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [least, most] = std::minmax({v[0][i], v[1][i], v[2][i]});
    if (least > half[i] + slack || most < -half[i] - slack) return false;
  }
  for (const Vec3d& edge : triangle.edges) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3;
      const std::size_t k = (i + 2) % 3;
      const auto project = [&](const Vec3d& p) { return edge[j] * p[k] - edge[k] * p[j]; };
      const auto [least, most] = std::minmax({project(v[0]), project(v[1]), project(v[2])});
      const double reach =
          half[j] * std::abs(edge[k]) + half[k] * std::abs(edge[j]) + slack * triangle.longest;
      if (least > reach || most < -reach) return false;
    }
  }
  const Vec3d& n = triangle.normal;
  const double reach = half[0] * std::abs(n[0]) + half[1] * std::abs(n[1]) + half[2] * std::abs(n[2]) +
                       slack * triangle.longest * triangle.longest;
  return std::abs(dot(n, v[0])) <= reach;
}

}  // namespace aerogel

#include <algorithm>

#include <fmt/core.h>

#include "aerogel/error.h"

#include "nn/golden/case.h"
#include "nn/golden/case_file.h"

namespace aerogel::nn::golden {
namespace {

namespace fs = std::filesystem;

void add_vectors(const fs::path& path, const std::string& name, std::vector<Case>& cases) {
  const std::size_t before = cases.size();
  try {
    const JsonField json = JsonField::read(path);
    for (const auto& [section, list] : json.members()) {
      if (!list.is_list()) continue;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const JsonField vector = list.at(i);
        const std::string item =
            vector.contains("name") ? vector.at("name").get<std::string>() : std::to_string(i);
        cases.push_back({fmt::format("{}/{}", name, item), path, CaseFormat::kPaddle, section, i});
      }
    }
  } catch (const std::exception&) {
    cases.resize(before);
  }
  // Nothing to run: running it says what is wrong.
  if (cases.size() == before) cases.push_back({name, path, CaseFormat::kPaddle, "", 0});
}

void walk(const fs::path& folder, const std::string& name, std::vector<Case>& cases) {
  if (fs::exists(folder / "case.json")) {
    cases.push_back({name, folder, CaseFormat::kSpconv, "", 0});
    return;
  }
  if (fs::exists(folder / "model.onnx")) {
    cases.push_back({name, folder, CaseFormat::kOnnx, "", 0});
    return;
  }
  if (fs::exists(folder / "paddle_sparse.json")) add_vectors(folder / "paddle_sparse.json", name, cases);
  std::vector<fs::path> below;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (std::error_code error; !entry.is_symlink(error) && entry.is_directory(error))
      below.push_back(entry.path());
  }
  std::sort(below.begin(), below.end());
  for (const fs::path& path : below) walk(path, (fs::path(name) / path.filename()).generic_string(), cases);
}

}  // namespace

std::vector<Case> find_cases(const fs::path& root) {
  if (!fs::is_directory(root))
    throw InvalidArgument(fmt::format("[check] {} is not a folder", root.string()));
  std::vector<Case> cases;
  walk(root, "", cases);
  for (Case& found : cases) {
    if (found.name.empty() || found.name.front() == '/') {  // the root itself is the case
      found.name = fs::absolute(root).lexically_normal().filename().string() + found.name;
    }
  }
  return cases;
}

}  // namespace aerogel::nn::golden

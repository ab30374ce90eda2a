#include "cli.h"
namespace aerogel::cli {
CLI::App* add_voxelize(CLI::App& app, int&) { return app.add_subcommand("voxelize"); }
}  // namespace aerogel::cli

#include "cli.h"
namespace aerogel::cli {
CLI::App* add_render(CLI::App& app, int&) { return app.add_subcommand("render"); }
}  // namespace aerogel::cli

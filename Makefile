# Two commands for a newcomer: `make demo` and `make test`. Both set the machine up first.
SCAN ?= synth:lidar:0
NETWORK ?= centerpoint
export CMAKE_CXX_COMPILER_LAUNCHER ?= $(shell command -v ccache)

.PHONY: all demo test test-long setup format clean

all: setup
	@cmake --preset release > /dev/null && cmake --build --preset release

setup:
	@tools/bootstrap.sh

demo: setup
	@echo "building (a few minutes the first time) …"
	@mkdir -p build && cmake --preset release > build/demo-build.log 2>&1 && cmake --build --preset release --target aerogel_cli >> build/demo-build.log 2>&1 || { tail -40 build/demo-build.log; exit 1; }
	@build/release/aerogel run --network $(NETWORK) "$(SCAN)" --out build/demo
	@echo && echo "pictures: build/demo/bev_input.png and build/demo/bev_features.png"

test: setup
	@tools/test.sh

test-long: setup
	@tools/test_long.sh

format:
	@git ls-files '*.h' '*.cc' '*.c' | xargs clang-format -i

clean:
	@rm -rf build

#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a program with the explorer in FOLDER, asks the module and the program the same questions,
# and tries the page in a browser, if there is one: sh tests/browser.sh FOLDER
set -eu
for tool in clang wasm-ld wasm-opt jq node xz; do
    if ! command -v "$tool" > /dev/null; then
        echo "skip the explorer: there is no $tool (sh .ci/deps page installs it)"
        exit 0
    fi
done
# What .ci/deps fetched for another build is as good.
[ -e "$1/cjson" ] || [ ! -e "$1/../cjson" ] || export CJSON_SOURCE="$1/../cjson"
make --silent BUILD="$1" SHARED= page check-page
for tool in chromium chromedriver python3; do
    if ! command -v "$tool" > /dev/null; then
        echo "skip tests/browser.py: there is no $tool (sh .ci/deps browser installs it)"
        exit 0
    fi
done
for axe in "$1/axe/axe.min.js" "$1/../axe/axe.min.js"; do
    [ ! -e "$axe" ] || export AXE="$axe"
done
exec python3 -B "$(dirname "$0")/browser.py" "$1/roofline"

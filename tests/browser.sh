#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages in a browser, if there is one: sh tests/browser.sh PROGRAM
set -eu
for tool in chromium chromedriver python3; do
    if ! command -v "$tool" > /dev/null; then
        echo "skip tests/browser.py: there is no $tool (sh .ci/deps browser installs it)"
        exit 0
    fi
done
exec python3 "$(dirname "$0")/browser.py" "$1"

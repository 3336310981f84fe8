# SPDX-License-Identifier: MIT
# A formula for Homebrew, on Linux. It has not been built: write the address of the release and the
# checksum of its tarball (make dist) into url and sha256 first.
class Roofline < Formula
  desc "Roofline calculator and recommender for transformer inference"
  homepage "https://example.org/roofline"
  url "https://example.org/roofline/roofline-1.0.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "pkgconf" => :build
  depends_on "argtable"
  depends_on "cjson"
  depends_on "libevent"
  depends_on :linux # the shared library has a version script, and measure reads /sys

  def install
    system "make", "prefix=#{prefix}", "all"
    system "make", "prefix=#{prefix}", "install"
  end

  test do
    assert_match "memory-bound", shell_output("#{bin}/roofline predict gemv -n 4096 -k 4096 -H h100-sxm")
  end
end

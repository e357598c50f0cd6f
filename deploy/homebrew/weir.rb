# A template: "bun run build --all" fills in the names in braces and writes dist/weir.rb.
class Weir < Formula
  desc "Inference gateway in one executable"
  homepage "{homepage}"
  version "{version}"
  license "{license}"

  on_macos do
    depends_on arch: :arm64
    url "{homepage}/releases/download/v{version}/weir-darwin-arm64"
    sha256 "{sha256 weir-darwin-arm64}"
  end

  on_linux do
    on_intel do
      url "{homepage}/releases/download/v{version}/weir-linux-x64"
      sha256 "{sha256 weir-linux-x64}"
    end
    on_arm do
      url "{homepage}/releases/download/v{version}/weir-linux-arm64"
      sha256 "{sha256 weir-linux-arm64}"
    end
  end

  def install
    bin.install Dir["weir-*"].first => "weir"
  end

  service do
    run [opt_bin/"weir", "serve"]
    environment_variables WEIR_DATA: var/"weir"
    keep_alive true
    log_path var/"log/weir.log"
    error_log_path var/"log/weir.log"
  end

  test do
    assert_match "weir #{version}", shell_output("#{bin}/weir version")
  end
end

#!/bin/sh
# Installs Weir: downloads the executable for this machine, verifies its checksum and moves it into place.
#
#   sh install.sh [--prefix DIR] [--version VERSION]
#
# It writes DIR/bin/weir (DIR is ~/.local by default) and a temporary folder that it removes, and nothing else.
# WEIR_RELEASES replaces the address of the releases, for a mirror.
set -eu

usage='Usage: sh install.sh [--prefix DIR] [--version VERSION]
  --prefix DIR       install to DIR/bin; default: ~/.local
  --version VERSION  a version such as 0.2.0; default: the latest one'

main() {
  parse_arguments "$@"
  choose_prefix
  assert_tools
  file=$(executable_name)
  address=$(download_address)
  folder=$(mktemp -d "${TMPDIR:-/tmp}/weir-install.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 1' HUP INT TERM
  echo "Downloading $file from $address"
  download "$address/SHA256SUMS" "$folder/SHA256SUMS"
  download "$address/$file" "$folder/weir"
  verify "$file"
  install_executable
  echo "$version is installed: $prefix/bin/weir"
  case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "$prefix/bin is not in the PATH. Add it, or run $prefix/bin/weir." ;;
  esac
}

parse_arguments() {
  prefix=
  requested=
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix=*) prefix=${1#*=} ;;
      --version=*) requested=${1#*=} ;;
      --prefix | --version)
        [ $# -gt 1 ] || wrong_usage "$1 needs a value."
        if [ "$1" = --prefix ]; then prefix=$2; else requested=$2; fi
        shift
        ;;
      --help | -h)
        echo "$usage"
        exit 0
        ;;
      *) wrong_usage "Unknown argument: $1" ;;
    esac
    shift
  done
  requested=${requested#v}
  case $requested in
    *[!0-9A-Za-z.+-]*) wrong_usage "--version must be a version such as 0.2.0, not $requested" ;;
  esac
}

# A program from the network is installed for every user only if the prefix says so.
choose_prefix() {
  if [ -z "$prefix" ]; then
    [ "$(id -u)" -ne 0 ] || fail 'This is root: name the prefix, such as --prefix /usr/local, or use another user.'
    [ -n "${HOME:-}" ] || fail 'HOME is not set: name the prefix with --prefix.'
    prefix=$HOME/.local
  fi
  case $prefix in
    /*) ;;
    *) prefix=$PWD/$prefix ;;
  esac
}

assert_tools() {
  has curl || has wget || fail 'The installation needs curl or wget.'
  has sha256sum || has shasum || has openssl ||
    fail 'The installation needs sha256sum, shasum or openssl to verify the download.'
}

executable_name() {
  case "$(uname -s) $(uname -m)" in
    'Linux x86_64' | 'Linux amd64')
      if uses_musl; then echo weir-linux-x64-musl; else echo weir-linux-x64; fi
      ;;
    'Linux aarch64' | 'Linux arm64')
      if uses_musl; then fail 'There is no executable for Linux on arm64 with musl.'; fi
      echo weir-linux-arm64
      ;;
    'Darwin arm64') echo weir-darwin-arm64 ;;
    'Darwin x86_64')
      # A shell under Rosetta calls an Apple processor x86_64.
      [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ] || fail 'There is no executable for macOS on Intel.'
      echo weir-darwin-arm64
      ;;
    *) fail "There is no executable for $(uname -s) on $(uname -m). On Windows, download weir-windows-x64.exe." ;;
  esac
}

# The ldd of musl names it on standard error.
uses_musl() {
  case $(ldd --version 2>&1) in
    *musl*) return 0 ;;
    *) return 1 ;;
  esac
}

download_address() {
  releases=${WEIR_RELEASES:-https://github.com/weir-gateway/weir/releases}
  releases=${releases%/}
  case $releases in
    https://* | http://127.0.0.1:* | http://localhost:*) ;;
    *) fail "WEIR_RELEASES must be an https address, not $releases" ;;
  esac
  if [ -z "$requested" ]; then
    echo "$releases/latest/download"
  else
    echo "$releases/download/v$requested"
  fi
}

download() {
  if has curl; then
    # A redirection must not lead away from https.
    case $1 in
      https:*) curl -fsSL --proto '=https' --connect-timeout 20 --max-time 900 -o "$2" "$1" ;;
      *) curl -fsS --connect-timeout 20 --max-time 900 -o "$2" "$1" ;;
    esac || fail "The download failed: $1"
  else
    wget -q -T 60 -O "$2" "$1" || fail "The download failed: $1"
  fi
}

verify() {
  expected=$(awk -v file="$1" '$2 == file || $2 == "*" file { print $1 }' "$folder/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS does not name $1: nothing was installed."
  actual=$(sha256 "$folder/weir")
  [ "$actual" = "$expected" ] || fail "The checksum of $1 is wrong: nothing was installed.
  expected  $expected
  actual    $actual"
}

sha256() {
  if has sha256sum; then
    sha256sum "$1"
  elif has shasum; then
    shasum -a 256 "$1"
  else
    openssl dgst -sha256 -r "$1"
  fi | awk '{ print $1 }'
}

# A running executable cannot be overwritten, but replaced.
install_executable() {
  partial=$prefix/bin/.weir.$$
  trap 'rm -rf "$folder" "$partial"' EXIT
  { mkdir -p "$prefix/bin" && cp "$folder/weir" "$partial" && chmod 755 "$partial"; } ||
    fail "$prefix/bin/weir cannot be written."
  version=$("$partial" version) || case $file in
    *-musl) fail 'The executable does not run: nothing was installed. On Alpine it needs: apk add libstdc++' ;;
    *) fail 'The executable does not run on this machine: nothing was installed.' ;;
  esac
  mv -f "$partial" "$prefix/bin/weir"
}

has() {
  command -v "$1" >/dev/null 2>&1
}

wrong_usage() {
  printf '%s\n%s\n' "$1" "$usage" >&2
  exit 2
}

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

main "$@"

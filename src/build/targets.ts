/** A platform that a release has an executable for. */
export type Target = { readonly file: string; readonly runtime: Bun.Build.CompileTarget }

/** The platforms of a release. */
export const targets: readonly Target[] = [
  { file: 'weir-linux-x64', runtime: 'bun-linux-x64' },
  { file: 'weir-linux-arm64', runtime: 'bun-linux-arm64' },
  { file: 'weir-linux-x64-musl', runtime: 'bun-linux-x64-musl' },
  { file: 'weir-darwin-arm64', runtime: 'bun-darwin-arm64' },
  { file: 'weir-windows-x64.exe', runtime: 'bun-windows-x64' },
]

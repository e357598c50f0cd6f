import { basename } from 'node:path'

/** A platform of a release, and the file name of its executable. */
export type Target = { readonly file: string; readonly runtime: Bun.Build.CompileTarget }

/** The platforms of a release. */
export const targets: readonly Target[] = [
  { file: 'weir-linux-x64', runtime: 'bun-linux-x64' },
  { file: 'weir-linux-arm64', runtime: 'bun-linux-arm64' },
  { file: 'weir-linux-x64-musl', runtime: 'bun-linux-x64-musl' },
  { file: 'weir-darwin-arm64', runtime: 'bun-darwin-arm64' },
  { file: 'weir-windows-x64.exe', runtime: 'bun-windows-x64' },
]

/** Returns one line a file, in the format of `sha256sum --check`. */
export async function checksums(files: readonly string[]): Promise<string> {
  const lines = files.map(async (file) => `${await sha256(file)}  ${basename(file)}\n`)
  return (await Promise.all(lines)).join('')
}

async function sha256(file: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const bytes of Bun.file(file).stream()) hash.update(bytes)
  return hash.digest('hex')
}

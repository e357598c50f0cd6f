import { basename } from 'node:path'

/** One line a file, as `sha256sum --check` reads it. */
export async function checksums(files: readonly string[]): Promise<string> {
  const lines = files.map(async (file) => `${await sha256(file)}  ${basename(file)}\n`)
  return (await Promise.all(lines)).join('')
}

async function sha256(file: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const bytes of Bun.file(file).stream()) hash.update(bytes)
  return hash.digest('hex')
}

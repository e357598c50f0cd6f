import { join } from 'node:path'
import { projectFolder } from '../install.ts'

/** What a bill of materials says of an npm package, in addition to its licence. */
export type PackageFacts = {
  /** The hash of its archive, in hexadecimal digits. */
  readonly sha512?: string
  /** The names of the packages that it depends on, optional and peer ones too. */
  readonly dependencies: readonly string[]
}

/** Returns the facts of installed packages, by `name@version`; the hashes are those of the lock file. */
export async function packageFacts(folders: readonly string[]): Promise<ReadonlyMap<string, PackageFacts>> {
  const hashes = await lockedHashes()
  const entries = folders.map(async (folder) => {
    const manifest = await Bun.file(join(folder, 'package.json')).json()
    const { name, version, dependencies, optionalDependencies, peerDependencies } = manifest
    const id = `${name}@${version}`
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    return [id, { sha512: hashes.get(id), dependencies: names.toSorted() }] as const
  })
  return new Map(await Promise.all(entries))
}

async function lockedHashes(): Promise<ReadonlyMap<string, string>> {
  const text = await Bun.file(join(projectFolder, 'bun.lock')).text()
  // Each package is a list that begins with `name@version` and ends with the hash of its archive.
  const { packages } = Bun.JSONC.parse(text) as { packages: Record<string, unknown[]> }
  const hashes = new Map<string, string>()
  for (const entry of Object.values(packages)) {
    const integrity = String(entry.at(-1))
    if (!integrity.startsWith('sha512-')) continue
    hashes.set(String(entry[0]), Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex'))
  }
  return hashes
}

import { join } from 'node:path'
import lock from '../../../bun.lock'

/** What a bill of materials says of an npm package, in addition to its licence. */
export type PackageFacts = {
  /** The hash of its archive, in hexadecimal digits. */
  readonly sha512?: string
  /** The names of the packages that it depends on, optional and peer ones too. */
  readonly dependencies: readonly string[]
}

/** Returns the facts of installed packages, by `name@version`; the hashes are those of the lock file. */
export async function packageFacts(folders: readonly string[]): Promise<ReadonlyMap<string, PackageFacts>> {
  const hashes = lockedHashes()
  const entries = folders.map(async (folder) => {
    const manifest = await Bun.file(join(folder, 'package.json')).json()
    const { name, version, dependencies, optionalDependencies, peerDependencies } = manifest
    const id = `${name}@${version}`
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    return [id, { sha512: hashes.get(id), dependencies: names.toSorted() }] as const
  })
  return new Map(await Promise.all(entries))
}

function lockedHashes(): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>()
  for (const entry of Object.values(lock.packages)) {
    const integrity = entry.find((part) => typeof part === 'string' && part.startsWith('sha512-'))
    if (typeof integrity !== 'string') continue
    hashes.set(String(entry[0]), Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex'))
  }
  return hashes
}

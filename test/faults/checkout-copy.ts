import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { projectFolder } from '../support/source.ts'
import type { Fault } from './fault.ts'

/** A copy of the checkout in a temporary folder: faults are never written to the checkout itself. */
export type CheckoutCopy = {
  readonly folder: string
  /** Returns why a fault cannot be applied, or its tests cannot be run, one sentence for each reason. */
  problemsOf(fault: Fault): Promise<readonly string[]>
  /** Applies a fault until the returned object is disposed. */
  apply(fault: Fault): Promise<AsyncDisposable>
  [Symbol.asyncDispose](): Promise<void>
}

/** Copies the files that git tracks or would track, as they are now, and links the packages. */
export async function copyCheckout(): Promise<CheckoutCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-faults-'))
  for (const path of listFiles()) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await copyFile(join(projectFolder, path), join(folder, path))
  }
  await symlink(join(projectFolder, 'node_modules'), join(folder, 'node_modules'), 'dir')
  return {
    folder,
    problemsOf: (fault) => problemsOf(fault, folder),
    apply: (fault) => apply(fault, folder),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

function listFiles(): readonly string[] {
  const command = ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const listing = Bun.spawnSync(command, { cwd: projectFolder })
  if (!listing.success) throw new Error(`git ls-files failed: ${listing.stderr.toString()}`)
  const paths = listing.stdout.toString().split('\0').filter(Boolean)
  // A file that was deleted may still be tracked.
  return paths.filter((path) => existsSync(join(projectFolder, path)))
}

/** Returns why a fault cannot be applied in this folder, or its tests cannot be run there, one sentence for each reason. */
export async function problemsOf(
  { file, original, replacement, tests }: Fault,
  folder: string,
): Promise<readonly string[]> {
  const missing = [file, ...tests].filter((path) => !existsSync(join(folder, path)))
  if (missing.length > 0) return missing.map((path) => `${path} does not exist.`)
  const count = (await readFile(join(folder, file), 'utf8')).split(original).length - 1
  return [
    ...(count === 1 ? [] : [`Its original text occurs ${count} times in ${file}, not once.`]),
    ...(original === replacement ? ['Its replacement is the original text.'] : []),
    ...(tests.length > 0 ? [] : ['It names no test.']),
  ]
}

async function apply({ file, original, replacement }: Fault, folder: string): Promise<AsyncDisposable> {
  const path = join(folder, file)
  const text = await readFile(path, 'utf8')
  // A function, because `$` has a meaning in a replacement that is text.
  await writeFile(
    path,
    text.replace(original, () => replacement),
  )
  return { [Symbol.asyncDispose]: () => writeFile(path, text) }
}

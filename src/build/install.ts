import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** The root of the checkout. */
export const projectFolder = resolve(import.meta.dir, '../..')

/** Installs the packages of the lock file, unless they are installed. Returns false on failure. */
export async function install(): Promise<boolean> {
  if (!existsSync(resolve(projectFolder, 'node_modules'))) console.error('Installing packages…')
  // `--silent` would also hide the reason of a failure.
  const child = Bun.spawn([process.execPath, 'install', '--frozen-lockfile'], {
    cwd: projectFolder,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const errors = await child.stderr.text()
  if ((await child.exited) === 0) return true
  console.error(`${errors.trim()}\nThe packages could not be installed.`)
  return false
}

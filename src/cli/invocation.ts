import manifest from '../../package.json'
import { existsSync, realpathSync } from 'node:fs'
import { relative } from 'node:path'
import type { LoadedSettings } from '../config/load.ts'
import type { CliContext } from './context.ts'
import { shellWord } from './quote.ts'

/** Returns how this program was started, such as `npx -y bun@1.4.5 start` or `./weir`, for examples to paste. */
export function commandPrefix({ environment, cwd }: Pick<CliContext, 'environment' | 'cwd'>): string {
  if (isCompiled()) return isOnPath(process.execPath) ? 'weir' : pathText(process.execPath, cwd)
  if (environment.npm_lifecycle_event === 'start')
    return environment.npm_config_user_agent?.startsWith('npm/')
      ? `npx -y ${manifest.packageManager} start`
      : 'bun start'
  return `bun ${pathText(process.argv[1] ?? 'src/main.ts', cwd)}`
}

/** Returns the flags that make another command use the same settings file and data folder, from any folder. */
export function locationFlags(
  { file, dataFolder }: Pick<LoadedSettings, 'file' | 'dataFolder'>,
  flags: { readonly config?: string; readonly data?: string },
  { environment }: Pick<CliContext, 'environment'>,
): { readonly config: string; readonly data: string } {
  return {
    config: file !== null && (flags.config || environment.WEIR_CONFIG) ? ` --config ${shellWord(file)}` : '',
    data: flags.data || environment.WEIR_DATA ? ` --data ${shellWord(dataFolder)}` : '',
  }
}

/** True if `weir` starts this executable, perhaps by a link, such as one of Homebrew. */
function isOnPath(executable: string): boolean {
  const found = Bun.which('weir')
  return found !== null && existsSync(found) && realpathSync(found) === realpathSync(executable)
}

/** Returns the path for a shell, relative to `cwd` if the file is below it. */
function pathText(path: string, cwd: string): string {
  const relativePath = relative(cwd, path)
  const shorter = relativePath.startsWith('..') ? path : relativePath
  return shellWord(shorter.includes('/') || path === shorter ? shorter : `./${shorter}`)
}

/** Returns the command that starts this program again, without arguments. */
export function programCommand(): string[] {
  const [, script = ''] = process.argv
  return isCompiled() ? [process.execPath] : [process.execPath, ...process.execArgv, script]
}

/** True for the compiled executable, false for a script that Bun runs. */
function isCompiled(): boolean {
  return Bun.main.startsWith('/$bunfs/') || /^[A-Z]:[\\/]~BUN/.test(Bun.main)
}

import manifest from '../../package.json'
import { relative } from 'node:path'
import type { LoadedSettings } from '../config/load.ts'
import type { CliContext } from './context.ts'

/** How this program was started, as `npx -y bun@1.4.5 start` or `./weir`: what a person types in front of a command. */
export function commandPrefix({ environment, cwd }: Pick<CliContext, 'environment' | 'cwd'>): string {
  if (isCompiled()) return Bun.which('weir') === process.execPath ? 'weir' : pathText(process.execPath, cwd)
  if (environment.npm_lifecycle_event === 'start')
    return environment.npm_config_user_agent?.startsWith('npm/')
      ? `npx -y ${manifest.packageManager} start`
      : 'bun start'
  return `bun ${pathText(process.argv[1] ?? 'src/main.ts', cwd)}`
}

/** The flags with which another command uses the same settings file and data folder, wherever it is typed. */
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

/** A path as a shell finds the file, relative where that is shorter. */
function pathText(path: string, cwd: string): string {
  const fromHere = relative(cwd, path)
  const short = fromHere.startsWith('..') ? path : fromHere
  return shellWord(short.includes('/') || path === short ? short : `./${short}`)
}

function shellWord(text: string): string {
  return /^[\w./:@=+,\\-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** How this program is called, without arguments: a compiled one is its own file, any other a script. */
export function programCommand(): string[] {
  const [, script = ''] = process.argv
  return isCompiled() ? [process.execPath] : [process.execPath, ...process.execArgv, script]
}

/** Whether this program is one executable, and no script that Bun runs. */
export function isCompiled(): boolean {
  return Bun.main.startsWith('/$bunfs/') || /^[A-Z]:[\\/]~BUN/.test(Bun.main)
}

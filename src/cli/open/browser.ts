import type { CliContext } from '../context.ts'

/** The program that opens an address in the default browser, without the address; undefined if there is none. */
export function browserCommand(
  { environment }: Pick<CliContext, 'environment'>,
  platform: NodeJS.Platform = process.platform,
): readonly string[] | undefined {
  const [program, ...options] = programs[platform] ?? ['xdg-open']
  // Without a display, as over SSH, `xdg-open` would start a browser in the terminal.
  if (program === 'xdg-open' && !environment.DISPLAY && !environment.WAYLAND_DISPLAY) return undefined
  const path = Bun.which(program ?? '', { PATH: environment.PATH ?? '' })
  return path === null ? undefined : [path, ...options]
}

/** `start` of Windows is no program, and its shell would interpret an address. */
const programs: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

const startTimeoutMs = 5000

/** Starts the browser; false if it fails. One that keeps running has been started. */
export async function startBrowser(
  command: readonly string[],
  { environment }: Pick<CliContext, 'environment'>,
): Promise<boolean> {
  const child = Bun.spawn([...command], {
    env: environment,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  child.unref()
  const { promise: timeout, resolve } = Promise.withResolvers<number>()
  const timer = setTimeout(() => resolve(0), startTimeoutMs)
  const code = await Promise.race([child.exited, timeout])
  clearTimeout(timer)
  return code === 0
}

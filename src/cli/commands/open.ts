import { loadSettings } from '../../config/load.ts'
import { type Command, commonFlagsHelp, parseFlags } from '../command.ts'
import { isServing, originOf } from '../running-gateway.ts'
import { keyVariable } from '../connect/tool.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'
import { jsonText } from '../output.ts'

const usage = `Usage
  weir open [--url URL]

Opens the page of a running gateway in the browser, or prints its address where there is no browser.
If the environment variable ${keyVariable} is set, the page uses its key: it is in the part of the
address behind the #, which is not sent to any server.

Flags
  --url URL      the address of the gateway; default: that of weir serve, from the settings
  --host HOST    the host and the port of weir serve, if it is started with these flags
  --port PORT

Examples
  weir open
  weir open --url https://weir.example.com

${commonFlagsHelp}`

/** `weir open`. */
export const command: Command = {
  usage,
  async run(args, context) {
    const { flags } = parseFlags(args, {
      command: 'open',
      flags: { url: 'text', host: 'text', port: 'text' },
    })
    const { settings } = loadSettings({ flags, ...context })
    if (!settings.page && flags.url === undefined)
      throw new CommandError(
        'The page is disabled by the setting “page”. Remove it, and restart the gateway.',
      )
    const origin = originOf(settings, flags.url)
    if (!(await isServing(origin)))
      throw new CommandError(`No gateway serves at ${origin}. Start it with “weir serve”, or pass --url.`)
    const link = linkWithKey(origin, context)
    const command = browserCommand(context)
    const opened = command !== undefined && (await startBrowser([...command, link], context))
    if (flags.json) context.out(jsonText({ url: link, opened }))
    else context.out(opened ? `${origin}/ was opened in the browser.` : link)
    return 0
  },
}

function linkWithKey(origin: string, { environment }: CliContext): string {
  const key = environment[keyVariable]
  return key ? `${origin}/#key=${encodeURIComponent(key)}` : `${origin}/`
}

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
async function startBrowser(
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

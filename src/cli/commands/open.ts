import { loadSettings } from '../../config/load.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import { browserCommand, startBrowser } from '../open/browser.ts'
import type { Command } from '../command.ts'
import { isServing, originOf } from '../connect/origin.ts'
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
export const open: Command = {
  name: 'open',
  summary: 'open the page of a running gateway in the browser',
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

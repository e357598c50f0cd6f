import { loadSettings } from '../../config/load.ts'
import { parseDuration } from '../../config/units.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import type { Command } from '../command.ts'
import { CommandError, UsageError } from '../errors.ts'
import { probe, readinessUrl } from '../health/probe.ts'
import { jsonText } from '../output.ts'

const usage = `Usage
  weir health [--host HOST] [--port PORT] [--timeout 3s] [--json]

Requests /readyz of the gateway that runs on this machine with the same settings, environment
and flags. Exit code 0: it is ready; 1: it is not, or did not respond in time. It needs no
key and no shell, so it can be the health check of a container.

Flags
  --host HOST    the host of “weir serve”, if it was given as a flag
  --port PORT    the port of “weir serve”, if it was given as a flag
  --timeout 3s   how long to wait for the response; default 3s, at most 1m

Examples
  weir health
  weir health --port 8080 --timeout 500ms

${commonFlagsHelp}`

/** `weir health`. */
export const health: Command = {
  name: 'health',
  summary: 'check that a running gateway is ready, for containers and monitors',
  usage,
  async run(args, context) {
    const { flags } = parseFlags(args, {
      command: 'health',
      flags: { host: 'text', port: 'text', timeout: 'text' },
    })
    const timeoutMs = parseTimeout(flags.timeout)
    const { settings } = loadSettings({ flags, ...context })
    if (settings.port === 0)
      throw new UsageError('The port of the settings is 0, which picks a free one. Name it with --port.')
    const url = readinessUrl(settings)
    const failure = await probe(url, timeoutMs)
    if (failure !== null) throw new CommandError(`Weir is not ready at ${url}. ${failure}`)
    context.out(flags.json ? jsonText({ ready: true, url }) : `Weir is ready at ${url}.`)
    return 0
  },
}

const maxTimeoutMs = 60_000

function parseTimeout(text: string = '3s'): number {
  const timeoutMs = parseDuration(text)
  if (timeoutMs !== undefined && timeoutMs <= maxTimeoutMs) return timeoutMs
  throw new UsageError(`--timeout must be a duration of at most 1m, such as 3s, not “${text}”.`)
}

import manifest from '../../../package.json'
import type { Command } from '../command.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import { jsonText } from '../output.ts'

const usage = `Usage
  weir version [--json]

Prints the version of weir, and of Bun, on which it runs.

${commonFlagsHelp}`

/** `weir version`. */
export const version: Command = {
  name: 'version',
  summary: 'print the version',
  usage,
  async run(args, context) {
    const { flags } = parseFlags(args, { command: 'version', flags: {} })
    const facts = {
      version: manifest.version,
      bun: Bun.version,
      platform: `${process.platform}-${process.arch}`,
    }
    context.out(flags.json ? jsonText(facts) : `weir ${facts.version} (Bun ${facts.bun}, ${facts.platform})`)
    return 0
  },
}

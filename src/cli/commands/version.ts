import manifest from '../../../package.json'
import { type Command, commonFlagsHelp, parseFlags } from '../command.ts'
import { jsonText } from '../output.ts'

const usage = `Usage
  weir version [--json]

Prints the version of Weir, and the version of Bun, its runtime.

Examples
  weir version
  weir version --json

${commonFlagsHelp}`

/** `weir version`. */
export const command: Command = {
  usage,
  async run(args, context) {
    const { flags } = parseFlags(args, { command: 'version', flags: {} })
    const versions = {
      version: manifest.version,
      bun: Bun.version,
      platform: `${process.platform}-${process.arch}`,
    }
    context.out(
      flags.json
        ? jsonText(versions)
        : `weir ${versions.version} (Bun ${versions.bun}, ${versions.platform})`,
    )
    return 0
  },
}

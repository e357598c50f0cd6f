import manifest from '../../../package.json'
import { type Command, commonFlagsHelp, subcommand } from '../command.ts'

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
  run: subcommand('version', {}, ({ print }) => {
    const [version, platform] = [manifest.version, `${process.platform}-${process.arch}`]
    print({ version, bun: Bun.version, platform }, `weir ${version} (Bun ${Bun.version}, ${platform})`)
  }),
}

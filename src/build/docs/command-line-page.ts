import { commonFlagsHelp } from '../../cli/args.ts'
import { commands } from '../../cli/command-registry.ts'
import { code, fenced, markdownTable } from './markdown.ts'
import type { Page } from './page.ts'

/** The reference of commands, from their help texts. */
export const commandLinePage: Page = {
  path: 'docs/command-line.md',
  async regions() {
    return {
      'command-list': markdownTable(commands, [
        { title: 'Command', cell: ({ name }) => `[${code(`weir ${name}`)}](#weir-${name})` },
        { title: 'What it does', cell: ({ summary }) => summary },
      ]),
      'common-flags': fenced('text', commonFlagsHelp),
      commands: (await Promise.all(commands.map(commandSection))).join('\n\n'),
    }
  },
}

/** The help text of a command, without the flags that every command has. */
async function commandSection({ load }: (typeof commands)[number]): Promise<string> {
  const { name, usage } = await load()
  return `### ${code(`weir ${name}`)}\n\n${fenced('text', usage.replace(commonFlagsHelp, ''))}`
}

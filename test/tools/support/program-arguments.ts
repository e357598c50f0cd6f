import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { projectFolder } from '../../support/source.ts'
import type { Workbench } from './workbench.ts'

const prompt = 'Write a note.'

/** A task for Claude Code without a terminal, with the tools that it may use without a question. */
export const claudeCodeArguments = ['-p', prompt, '--allowedTools', 'Bash', 'Read', 'Edit']

/** What docs/claude-code.md says against requests to others than the gateway. */
export const claudeCodeVariables = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }

/** A task for Codex without a terminal. Its sandbox needs rights that a container may not have. */
export const codexArguments = ['exec', '--dangerously-bypass-approvals-and-sandbox', prompt]

/** Continues the last task of Codex. */
export const codexResumeArguments = [
  'exec',
  'resume',
  '--last',
  '--dangerously-bypass-approvals-and-sandbox',
  prompt,
]

/** Adds to the configuration of Codex what docs/codex.md says against requests to others than the gateway. */
export async function silenceCodex({ home }: Workbench): Promise<void> {
  const page = await Bun.file(join(projectFolder, 'docs/codex.md')).text()
  const block = /```toml\n(\[analytics\]\n[^]*?)```/.exec(page)?.[1]
  if (block === undefined) throw new Error('docs/codex.md has no block with the table [analytics].')
  await appendFile(join(home, '.codex/config.toml'), `\n${block}`)
}

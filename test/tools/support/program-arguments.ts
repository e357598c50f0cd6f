import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { projectFolder } from '../../support/source.ts'
import type { AgentName } from '../../support/agent-fixture.ts'
import { type AgentPlan, editorPlan } from './agent-plan.ts'
import type { ProgramName } from './programs.ts'
import type { Workbench } from './workbench.ts'

const prompt = 'Write a note.'

/** How an agent is run without a terminal. */
export type AgentRun = {
  readonly program: ProgramName
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly plan: (folder: string) => AgentPlan
}

/** A task for Claude Code without a terminal, with the tools that it may use without a question. */
export const claudeCodeArguments = ['-p', prompt, '--allowedTools', 'Bash', 'Read', 'Edit']

/** What docs/claude-code.md says against requests to others than the gateway. */
export const claudeCodeVariables = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }

/** A task for Codex without a terminal. Its sandbox needs rights that a container may not have. */
export const codexArguments = ['exec', '--dangerously-bypass-approvals-and-sandbox', prompt]

/** A task for each of the other agents, with the variables against requests to others than the gateway. */
export const agentRuns = {
  copilot: {
    program: 'copilot',
    args: ['-p', prompt, '--allow-all-tools'],
    environment: { COPILOT_OFFLINE: 'true' },
    plan: editorPlan('copilot'),
  },
  opencode: {
    program: 'opencode',
    args: ['run', '--auto', prompt],
    environment: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
    plan: editorPlan('opencode'),
  },
  kilo: {
    program: 'kilo',
    args: ['run', '--auto', prompt],
    environment: { KILO_DISABLE_MODELS_FETCH: '1', KILO_TELEMETRY_LEVEL: 'off' },
    plan: editorPlan('opencode'),
  },
  'qwen-code': {
    program: 'qwen',
    args: ['--approval-mode', 'yolo', prompt],
    environment: {},
    plan: editorPlan('qwen-code'),
  },
  pi: {
    program: 'pi',
    args: ['--print', '--tools', 'read,bash,edit,write,grep,find,ls', prompt],
    environment: { PI_OFFLINE: '1' },
    plan: editorPlan('pi'),
  },
  cline: {
    program: 'cline',
    args: [prompt],
    environment: { CLINE_TELEMETRY_DISABLED: '1' },
    plan: editorPlan('cline'),
  },
} as const satisfies Partial<Record<AgentName, AgentRun>>

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

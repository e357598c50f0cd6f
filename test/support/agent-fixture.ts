import { join } from 'node:path'
import type { Fields } from '../../src/lib/json/json.ts'
import { projectFolder } from './source.ts'

/** The form of the requests of a coding agent, with made-up texts. */
export type AgentFixture = {
  /** The program and the version that was recorded. */
  readonly program: string
  readonly version: string
  /** The tools by name, or by type if they have none. */
  readonly tools: Readonly<Record<string, Fields>>
  readonly variants: readonly AgentVariant[]
}

/** The requests of one conversation of the program. */
export type AgentVariant = {
  /** How the program was configured. */
  readonly name: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The body without its tools and its conversation. */
  readonly body: Fields
  /** The keys of its tools. */
  readonly tools: readonly string[]
  /** The property that contains the conversation. */
  readonly conversationProperty: 'messages' | 'input'
  /** The conversation of the last request: those of the earlier ones are its beginnings. */
  readonly conversation: readonly Fields[]
}

/** The programs with a fixture. */
export const agentNames = [
  'claude-code',
  'codex',
  'copilot',
  'opencode',
  'kilo',
  'qwen-code',
  'pi',
  'cline',
] as const
export type AgentName = (typeof agentNames)[number]

/** The path of the fixture of a program. */
export function agentFixturePath(name: AgentName): string {
  return join(projectFolder, `test/fixtures/agents/${name}.json`)
}

/** Reads the fixture of a program. */
export function readAgentFixture(name: AgentName): Promise<AgentFixture> {
  return Bun.file(agentFixturePath(name)).json()
}

/** The last body of a conversation. */
export function agentBody({ tools }: AgentFixture, variant: AgentVariant): Fields {
  return {
    ...variant.body,
    tools: variant.tools.map((key) => tools[key] ?? {}),
    [variant.conversationProperty]: variant.conversation,
  }
}

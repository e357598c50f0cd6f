import type { Generation, Tool, ToolChoice } from '../../../domain/generation/request.ts'
import type { Body } from './dialect.ts'

/** The tools on offer and whether one has to be called. */
export function renderTools({ tools, toolChoice }: Generation): Body {
  if (tools.length === 0) return {}
  return {
    tools: [{ functionDeclarations: tools.map(renderTool) }],
    toolConfig: toolChoice && { functionCallingConfig: renderChoice(toolChoice) },
  }
}

function renderTool({ name, description, parameters }: Tool): Body {
  return { name, description, parametersJsonSchema: parameters }
}

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const

function renderChoice(choice: ToolChoice): Body {
  if (typeof choice === 'string') return { mode: modes[choice] }
  return { mode: 'ANY', allowedFunctionNames: [choice.name] }
}

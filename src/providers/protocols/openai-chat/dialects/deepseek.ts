import type { Effort, Format, Generation } from '../../../../domain/generation/request.ts'
import { fieldsOf, listOf } from '../../../../lib/json/json.ts'
import type { Target, Warn } from '../../protocol.ts'
import type { Body, Dialect } from '../dialect.ts'

/** DeepSeek: no schemas, thinking is a switch, and the thoughts of a tool turn belong to the next one. */
export const deepseek: Dialect = {
  name: 'deepseek',
  refused: new Set(['n', 'logit_bias', 'service_tier']),
  noDeveloper: true,
  effort,
  adapt,
  echo: { on: 'message', field: 'reasoning_content' },
}

/** It takes every word of ours and maps those that it has no step for. */
function effort(effort: Effort): Body {
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  return { thinking: { type: 'enabled' }, reasoning_effort: effort }
}

function adapt(body: Body, generation: Generation, _target: Target, warn: Warn): Body {
  const { format, effort } = generation
  const told = listOf(body.messages)
  const messages = effort === 'none' ? told : told.map((message) => withReasoning(fieldsOf(message), warn))
  if (format?.type !== 'json_schema') return { ...body, messages }
  warn('deepseek takes no response_format json_schema; the model was asked to follow the schema instead.')
  const instruction = { role: 'system', content: schemaInstruction(format) }
  return { ...body, messages: [instruction, ...messages], response_format: { type: 'json_object' } }
}

/** While it thinks, it refuses a tool turn without its reasoning, and takes one where that is empty. */
function withReasoning(message: Body, warn: Warn): Body {
  if (message.tool_calls === undefined || typeof message.reasoning_content === 'string') return message
  warn('The reasoning behind an earlier tool call is not known here; deepseek goes on without it.')
  return { ...message, reasoning_content: '' }
}

/** The word JSON has to be in the prompt, or DeepSeek refuses `json_object`. */
function schemaInstruction(format: Format & { type: 'json_schema' }): string {
  const { name, description, schema } = format
  const purpose = description === undefined ? name : `${name} (${description})`
  return `Answer with one JSON object only: ${purpose}. It must follow this JSON Schema:\n${JSON.stringify(schema)}`
}

import type { Format, Generation } from '../../../domain/generation/request.ts'
import type { Body, Target, Warn } from '../protocol.ts'
import type { Family } from './models.ts'

/** The response format: fields of the request, or an instruction in the prompt. */
export type RenderedFormat = { readonly fields: Body; readonly instruction?: string }

/** Renders the response format; older models reject its fields together with tools. */
export function renderFormat(
  { format, tools }: Generation,
  family: Family,
  { model }: Target,
  warn: Warn,
): RenderedFormat {
  if (!format || format.type === 'text') return { fields: {} }
  if (tools.length === 0 || family.schemaBesideTools) return { fields: renderFields(format) }
  warn(
    `\`response_format\` together with tools is not supported by ${model}; the model was instructed in the prompt instead.`,
  )
  return { fields: {}, instruction: formatInstruction(format) }
}

type Structured = Exclude<Format, { readonly type: 'text' }>

function renderFields(format: Structured): Body {
  const responseMimeType = 'application/json'
  if (format.type === 'json_object') return { responseMimeType }
  const { description, schema } = format
  return {
    responseMimeType,
    responseJsonSchema: description === undefined ? schema : { description, ...schema },
  }
}

function formatInstruction(format: Structured): string {
  const rule = 'Your final answer, once you call no more tools, must be one JSON object and nothing else.'
  if (format.type === 'json_object') return rule
  const { description = '', schema } = format
  return [rule, description, `It must follow this JSON Schema:\n${JSON.stringify(schema)}`]
    .filter(Boolean)
    .join(' ')
}

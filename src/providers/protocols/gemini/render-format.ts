import type { Format, Generation } from '../../../domain/generation/request.ts'
import type { Target, Warn } from '../protocol.ts'
import type { Body } from './dialect.ts'
import type { Family } from './models.ts'

/** The form of the answer: in fields of its own, or in words to the model. */
export type RenderedFormat = { readonly fields: Body; readonly instruction?: string }

/** The form of the answer; older models refuse the fields beside tools. */
export function renderFormat(
  { format, tools }: Generation,
  family: Family,
  { model }: Target,
  warn: Warn,
): RenderedFormat {
  if (!format || format.type === 'text') return { fields: {} }
  if (tools.length === 0 || family.schemaBesideTools) return { fields: renderFields(format) }
  warn(`${model} takes no response_format beside tools; the model was asked in words instead.`)
  return { fields: {}, instruction: instructionFor(format) }
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

function instructionFor(format: Structured): string {
  const rule = 'Your final answer, once you call no more tools, must be one JSON object and nothing else.'
  if (format.type === 'json_object') return rule
  const { description = '', schema } = format
  return [rule, description, `It must follow this JSON Schema:\n${JSON.stringify(schema)}`]
    .filter(Boolean)
    .join(' ')
}
